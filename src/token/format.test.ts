import { createCipheriv, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { read, type Reading, write } from "./format.ts";
import { newKey, parseKeys } from "./keyring.ts";

const secret = Buffer.alloc(32, 7);
const keyring = parseKeys([`k1:${secret.toString("base64url")}`, newKey("k0")]);
const payload = Buffer.from("\0what is inside");

test("is AES-256-GCM over the payload, with word and key id authenticated", () => {
  const nonce = Buffer.from("twelve bytes");
  const cipher = createCipheriv("aes-256-gcm", secret, nonce);
  cipher.setAAD(Buffer.from("v1.k1"));
  const sealed = [nonce, cipher.update(payload), cipher.final(), cipher.getAuthTag()];
  const byHand = `v1.k1.${Buffer.concat(sealed).toString("base64url")}`;

  expect(write("v1", payload, keyring, () => nonce)).toBe(byHand);
  expect(read("v1", byHand, keyring)).toEqual({ kind: "read", payload });
});

test("takes twelve random bytes each time", () => {
  const sizes: number[] = [];
  const counting = (size: number) => {
    sizes.push(size);
    return randomBytes(size);
  };
  expect(write("v1", payload, keyring, counting)).not.toBe(write("v1", payload, keyring, counting));
  expect(sizes).toEqual([12, 12]);
});

test("carries an empty payload", () => {
  const text = write("v1", Buffer.alloc(0), keyring, randomBytes);
  expect(read("v1", text, keyring)).toEqual({ kind: "read", payload: Buffer.alloc(0) });
});

test("is safe in a URL without encoding", () => {
  for (let size = 0; size < 100; size++) {
    const text = write("t1", randomBytes(size), keyring, randomBytes);
    expect(encodeURIComponent(text)).toBe(text);
  }
});

test("accepts exactly one text for a block of any length", () => {
  for (let size = 0; size < 4; size++) {
    const text = write("v1", randomBytes(size), keyring, randomBytes);
    expect(read("v1", text, keyring).kind).toBe("read");
    expect(aliases(text).filter((alias) => read("v1", alias, keyring).kind === "read")).toEqual([]);
  }
});

test.each([
  ["another version", "v2.k1"],
  ["no version", ".k1"],
  ["the version alone", "v1"],
  ["a capital", "V1.k1"],
  ["white space", " v1.k1"],
  ["an extra part", "v1.k1.k1"],
  ["an extra part in front", "v1.v1.k1"],
])("refuses %s as malformed", (_what, head) => {
  const body = write("v1", payload, keyring, randomBytes).split(".").at(2);
  expect(read("v1", `${head}.${body}`, keyring)).toEqual(refused("malformed"));
});

test.each([[""], ["."], [".."], ["..."], ["v1"], ["v1."], ["v1.k1"], [".".repeat(30_000)]])(
  "refuses %j as malformed",
  (text) => {
    expect(read("v1", text, keyring)).toEqual(refused("malformed"));
  },
);

test.each([[""], ["A".repeat(16)], [Buffer.alloc(27).toString("base64url")]])(
  "refuses a block that is too short (%#)",
  (body) => {
    expect(read("v1", `v1.k1.${body}`, keyring)).toEqual(refused("forged"));
  },
);

test.each([["k9"], [""], ["__proto__"], ["constructor"], ["K1"], ["\ud800"], ["k".repeat(30_000)]])(
  "does not know the key id %j",
  (id) => {
    const body = write("v1", payload, keyring, randomBytes).split(".").at(2);
    expect(read("v1", `v1.${id}.${body}`, keyring)).toEqual(refused("unknown_key"));
  },
);

test("refuses a block under another id, even if that id has the same key", () => {
  const key = secret.toString("base64url");
  const twice = parseKeys([`a:${key}`, `b:${key}`]);
  const text = write("v1", payload, twice, randomBytes);
  expect(read("v1", text.replace("v1.a", "v1.b"), twice)).toEqual(refused("forged"));
});

test("refuses a block under another word", () => {
  const text = write("t1", payload, keyring, randomBytes);
  expect(read("v1", text, keyring)).toEqual(refused("malformed"));
  expect(read("v1", text.replace("t1", "v1"), keyring)).toEqual(refused("forged"));
});

test("refuses a block with any one bit changed", () => {
  const text = write("v1", payload, keyring, randomBytes);
  const bytes = Buffer.from(text.split(".").at(2) ?? "", "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    expect(read("v1", `v1.k1.${changed.toString("base64url")}`, keyring)).toEqual(
      refused("forged"),
    );
  }
});

test.each([
  ["malformed", "v1.k1.!", 1],
  ["of another version", "v2.k1.AAAA", 1],
  ["under an unknown key", "v1.k9.AAAA", 1],
  ["forged", "v1.k1.AAAA", 0],
])(
  "tries to decrypt a text that is %s, using the decoy if there is no key",
  (_what, text, times) => {
    let used = 0;
    const watched = {
      ...keyring,
      get decoy() {
        used++;
        return keyring.decoy;
      },
    };
    expect(read("v1", text, watched).kind).toBe("refused");
    expect(used).toBe(times);
  },
);

test("opens nothing with the decoy, not even a block that was sealed with it", () => {
  const inside = { ...keyring, sealing: { id: "k7", secret: keyring.decoy } };
  const text = write("v1", payload, inside, randomBytes);
  expect(read("v1", text, keyring)).toEqual(refused("unknown_key"));
});

function refused(reason: Extract<Reading, { kind: "refused" }>["reason"]): Reading {
  return { kind: "refused", reason };
}

/** Texts that a lenient decoder decodes to the same bytes. */
function aliases(text: string): string[] {
  const padded = [`${text}=`, `${text}==`, `${text}\n`, `${text} `, `${text}.`, `${text}!`];
  const split = text.lastIndexOf(".") + 10;
  const broken = ["\n", "=", ".", "\0", "é"].map(
    (stray) => text.slice(0, split) + stray + text.slice(split),
  );
  const bytes = Buffer.from(text.slice(text.lastIndexOf(".") + 1), "base64url");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const spare = Array.from(alphabet, (last) => text.slice(0, -1) + last).filter(
    (one) =>
      one !== text && Buffer.from(one.slice(one.lastIndexOf(".") + 1), "base64url").equals(bytes),
  );
  const standard = [text.replaceAll("-", "+"), text.replaceAll("_", "/")].filter(
    (one) => one !== text,
  );
  return [...padded, ...broken, ...spare, ...standard];
}
