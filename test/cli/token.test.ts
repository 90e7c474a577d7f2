import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parley as newApp } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { afterEach, expect, test, vi } from "vitest";
import { UsageError } from "../../src/cli/command.ts";
import { token } from "../../src/cli/commands/token.ts";
import { referenceAt } from "../../src/cli/journal/reference.ts";
import { stateOf } from "../../src/client/reference.ts";
import { newKey } from "../../src/token/keyring.ts";
import { inEmptyFolder, run } from "./keys-io.ts";
import { emptyFolder, parleyProcess } from "./run.ts";

const PARLEY_KEYS = newKey("mine");
const env = { PARLEY_KEYS };

/** The state that a client has when it is asked for the second time, and the reference that it would keep. */
async function parked(): Promise<{ readonly state: string; readonly ref: string }> {
  const app = newApp({ name: "shop", version: "1.0.0", keys: PARLEY_KEYS });
  app.tool("buy", {}, async (ctx) => {
    const pin = await ctx.ask("pin", "Your PIN?", {
      type: "object",
      properties: { pin: { type: "string" } },
      required: ["pin"],
    });
    await ctx.step("charge", () => ({ receipt: `for ${pin.pin.length} digits` }));
    await ctx.confirm("mail", "By mail?");
    return "bought";
  });
  const connection = await connect(app, { elicit: "events" });
  const call = connection.start("buy");
  for await (const event of call) {
    if (event.type !== "asked") continue;
    const { ref } = event;
    if (event.questions[0]?.key === "mail") {
      await connection.close();
      return { state: stateOf(ref).requestState ?? "", ref };
    }
    await call.answer("pin", { action: "accept", content: { pin: "secret-1234" } });
  }
  throw new Error("it was never asked");
}

afterEach(() => void vi.useRealTimers());

test("shows the call, its progress and its records, and values only with --values", async () => {
  const { state } = await parked();
  const { code, out } = await run(token, ["inspect", state], env);
  expect(code).toBe(0);
  expect(out).toContain('requestState of server "shop": tools/call buy\n  key      mine\n');
  expect(out).toMatch(/rounds {3}2 done, 48 left\n {2}expires {2}\S+, in 1\d min/);
  expect(out).toMatch(/recorded\n {4}answer {5}pin {2}\d+ B\n {4}step {7}charge {2}\d+ B\n/);
  expect(out).toMatch(/asked {4}mail\n/);
  expect(out).not.toContain("secret-1234");
  expect((await run(token, ["inspect", state, "--values"], env)).out).toContain("secret-1234");
});

test("prints JSON, with and without values", async () => {
  const { state } = await parked();
  const found: unknown = JSON.parse((await run(token, ["inspect", state, "--json"], env)).out);
  expect(found).toMatchObject({
    audience: "shop",
    target: "buy",
    keyId: "mine",
    round: 2,
    expired: false,
    entries: [
      { kind: "answer", key: "pin" },
      { kind: "step", key: "charge" },
    ],
    asked: [{ key: "mail" }],
  });
  expect(JSON.stringify(found)).not.toContain("digits");
  const { out } = await run(token, ["inspect", state, "--json", "--values"], env);
  expect(JSON.parse(out)).toMatchObject({ entries: [{}, { value: { receipt: "for 11 digits" } }] });
});

test("accepts a reference from the client", async () => {
  const { ref } = await parked();
  expect((await run(token, ["inspect", ref], env)).out).toContain("tools/call buy");
});

test("accepts a reference from parley call", async () => {
  const { ref } = await parked();
  const place = { kind: "url", url: "http://shop.example/mcp" } as const;
  const { out } = await run(token, ["inspect", referenceAt(place, ref)], env);
  expect(out).toContain('requestState of server "shop"');
});

test("says whether the key is wrong, or the token is changed, expired or not a token", async () => {
  const { state } = await parked();
  const refused = (text: string, keys: string) =>
    run(token, ["inspect", text], { PARLEY_KEYS: keys }).then(
      () => "",
      (error: Error) => error.message,
    );
  expect(await refused(state, newKey("other"))).toBe(
    'Wrong key: the token was sealed with "mine", but you passed "other".',
  );
  const forged = 'The token was changed, or this "mine" is another key. It does not open.';
  expect(await refused(state, newKey("mine"))).toBe(forged);
  const letter = state.at(20) === "A" ? "B" : "A";
  expect(await refused(`${state.slice(0, 20)}${letter}${state.slice(21)}`, PARLEY_KEYS)).toBe(
    forged,
  );
  expect(await refused("hello", PARLEY_KEYS)).toContain("not a token of this library");
  expect(await refused("t1.mine.AAAA", PARLEY_KEYS)).toContain("This is a ticket for one page");
  expect(await refused(`${state}=`, PARLEY_KEYS)).toContain("not a token");

  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 20 * 60_000 });
  const late = await run(token, ["inspect", state], env);
  expect(late.code).toBe(1);
  expect(late.out).toContain("asked    mail");
  expect(late.err).toMatch(
    /^The token expired (8 min \d+|9 min 0) s ago, so a server refuses it\.\n$/,
  );
});

test("asks for a key or a token if one is missing", async () => {
  inEmptyFolder();
  await expect(run(token, ["inspect", "v1.a.b"])).rejects.toThrow("the server's key is needed");
  await expect(run(token, ["inspect"], env)).rejects.toThrow(UsageError);
  await expect(run(token, ["look", "x"], env)).rejects.toThrow(UsageError);
});

test("warns if other users can read the development key", async () => {
  const { state } = await parked();
  const folder = inEmptyFolder();
  mkdirSync(join(folder, ".parley"));
  writeFileSync(join(folder, ".parley/keys"), env.PARLEY_KEYS, { mode: 0o644 });
  const { out, err } = await run(token, ["inspect", state]);
  expect(out).toContain("tools/call buy");
  expect(err).toContain(".parley/keys can be read by other users");
});

test("reads a token from standard input", async () => {
  const { state } = await parked();
  const options = { cwd: emptyFolder(), env, stdin: `${state}\n` };
  const { stdout } = await parleyProcess(["token", "inspect", "-"], options);
  expect(stdout).toContain("tools/call buy");
});
