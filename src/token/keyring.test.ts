import { inspect } from "node:util";
import { expect, test } from "vitest";
import { ParleyError } from "../errors.ts";
import { newKey, parseKeys } from "./keyring.ts";

const bytes = Buffer.alloc(32, 0xa5);
const secret = bytes.toString("base64url");
const secondSecret = Buffer.alloc(32, 0x5a).toString("base64url");

test("reads one key", () => {
  const keyring = parseKeys(`2026-11:${secret}`);
  expect(keyring.sealing.id).toBe("2026-11");
  expect(keyring.sealing.secret.export()).toEqual(bytes);
  expect([...keyring.opening.keys()]).toEqual(["2026-11"]);
});

test.each([
  ["commas", `a:${secret},b:${secondSecret}`],
  ["white space", ` a:${secret}\n\tb:${secondSecret}\r\n`],
  ["both", `,a:${secret} , b:${secondSecret},`],
  ["a list", [`a:${secret}`, `b:${secondSecret}`]],
  ["a list of several", [`a:${secret},b:${secondSecret}`, ""]],
])("reads several keys separated by %s; the first seals, all open", (_how, keys) => {
  const keyring = parseKeys(keys);
  expect(keyring.sealing.id).toBe("a");
  expect([...keyring.opening.keys()]).toEqual(["a", "b"]);
});

test("keeps the order even if the ids look like numbers", () => {
  expect(parseKeys(`2:${secret},1:${secondSecret}`).sealing.id).toBe("2");
});

test.each([[""], [" \n\t,"], [[]], [["", " "]]])(
  "says how to get a key when there is none",
  (keys) => {
    const error = thrownBy(() => parseKeys(keys));
    expect(error).toBeInstanceOf(ParleyError);
    expect(error).toMatchObject({
      code: "no_keys",
      message:
        "There is no key to seal state with. Set PARLEY_KEYS to the same value on every instance, or pass parley({ keys }). To make a key, run npx mcp-parley keys new.",
    });
  },
);

const form = "A key is written as <id>:<base64url of 32 bytes>.";

test.each([
  [TypeError, secret, `keys: entry 1 has no key id. ${form}`],
  [TypeError, `a:${secret},${secondSecret}`, `keys: entry 2 has no key id. ${form}`],
  [
    TypeError,
    `a:${secret} ü:${secondSecret}`,
    `keys: the id of entry 2 must have 1 to 32 characters of A-Z, a-z, 0-9, _ and -. ${form}`,
  ],
  [
    TypeError,
    // The halves are swapped, so the "id" is the key and must not be shown.
    `${secret}:a`,
    `keys: the id of entry 1 must have 1 to 32 characters of A-Z, a-z, 0-9, _ and -. ${form}`,
  ],
  [
    TypeError,
    `:${secret}`,
    `keys: the id of entry 1 must have 1 to 32 characters of A-Z, a-z, 0-9, _ and -. ${form}`,
  ],
  [
    TypeError,
    `a:${bytes.toString("base64")}`,
    `keys: key "a" is not base64url, which uses - and _ instead of + and /, and no =. ${form}`,
  ],
  [
    TypeError,
    `a:${secret.slice(0, -1)}V`,
    `keys: key "a" is not base64url, which uses - and _ instead of + and /, and no =. ${form}`,
  ],
  [
    RangeError,
    `2026-11:${secret.slice(0, 22).replace(/.$/, "Q")}`,
    'keys: key "2026-11" has 16 bytes. A key has 32.',
  ],
  [RangeError, "a:", 'keys: key "a" has 0 bytes. A key has 32.'],
  [RangeError, `a:${secret}AAA`, 'keys: key "a" has 34 bytes. A key has 32.'],
  [
    RangeError,
    `a:${secret},a:${secondSecret}`,
    'keys: the key id "a" is used twice. Give each key its own id.',
  ],
])("refuses malformed keys with a %o that does not show them (%#)", (kind, keys, message) => {
  const error = thrownBy(() => parseKeys(keys));
  expect(error).toBeInstanceOf(kind);
  expect(error).toHaveProperty("message", message);
  expect(inspect(error, { depth: Infinity })).not.toContain(secret.slice(0, 20));
});

test.each([
  [undefined, "undefined"],
  [null, "null"],
  [42, "number"],
  [[`a:${secret}`, {}], "object"],
])("refuses keys that are not text (%#)", (keys, kind) => {
  // @ts-expect-error -- a caller without types
  expect(() => parseKeys(keys)).toThrow(
    new TypeError(`keys: pass a string or a list of strings, not ${kind}.`),
  );
});

test("shows no key material in JSON or in inspect", () => {
  const keyring = parseKeys(`a:${secret}`);
  const shown = [
    JSON.stringify(keyring),
    inspect(keyring, { depth: Infinity, showHidden: true, getters: false }),
    inspect(keyring.opening, { depth: Infinity, showHidden: true }),
    inspect(keyring.sealing),
  ].join("\n");
  for (const encoding of ["base64url", "base64", "hex", "latin1"] as const) {
    expect(shown).not.toContain(bytes.toString(encoding).slice(0, 16));
  }
  expect(shown).not.toContain("165, 165");
  expect(shown).not.toContain("a5 a5");
});

test("makes a different key each time, which can be parsed", () => {
  const key = newKey("2026-11-15");
  expect(key).toMatch(/^2026-11-15:[\w-]{43}$/);
  expect(parseKeys(key).sealing.id).toBe("2026-11-15");
  expect(newKey("2026-11-15")).not.toBe(key);
});

test("generates an id of eight characters by default", () => {
  expect(newKey()).toMatch(/^[\w-]{8}:[\w-]{43}$/);
  expect(newKey(undefined, (size) => Buffer.alloc(size, size))).toBe(
    `BgYGBgYG:${Buffer.alloc(32, 32).toString("base64url")}`,
  );
});

test.each([[""], ["a b"], ["a:b"], ["a.b"], ["a".repeat(33)]])(
  "refuses to make a key with the id %j",
  (id) => {
    expect(() => newKey(id)).toThrow(
      new TypeError(
        "newKey: the id of a key must have 1 to 32 characters of A-Z, a-z, 0-9, _ and -.",
      ),
    );
  },
);

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return expect.fail("nothing was thrown");
}
