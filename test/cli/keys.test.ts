import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { UsageError } from "../../src/cli/command.ts";
import { keys } from "../../src/cli/commands/keys.ts";
import type { Claims } from "../../src/token/claims.ts";
import { newKey, parseKeys } from "../../src/token/keyring.ts";
import { open } from "../../src/token/open.ts";
import { seal } from "../../src/token/seal.ts";
import { inEmptyFolder, run } from "./keys-io.ts";

const claims: Claims<string> = {
  callId: "call",
  round: 1,
  roundsLeft: 5,
  expiresAt: 2_000,
  method: "tools/call",
  target: "tool",
  argumentsDigest: "digest",
  principal: undefined,
  audience: "server",
  state: { kind: "inline", value: "kept" },
};
const opens = (sealedWith: string, openedWith: string) => {
  try {
    open(seal(claims, parseKeys(sealedWith)), parseKeys(openedWith), { ...claims, now: 1_000 });
    return true;
  } catch {
    return false;
  }
};

test("a new key is named after the id or today's date, and can be parsed", async () => {
  const { out } = await run(keys, ["new", "2026-11"]);
  expect([...parseKeys(out).opening.keys()]).toEqual(["2026-11"]);
  const today = new Date().toISOString().slice(0, 10);
  expect((await run(keys, ["new"])).out).toMatch(new RegExp(`^${today}:[\\w-]{43}\n$`));
  await expect(run(keys, ["new", "not an id"])).rejects.toThrow(UsageError);
});

async function steps(PARLEY_KEYS: string, ...args: string[]): Promise<[string, string, string]> {
  const { out } = await run(keys, ["rotate", ...args], { PARLEY_KEYS });
  const found = [...out.matchAll(/^PARLEY_KEYS="(.*)"$/gm)].map(([, text = ""]) => text);
  expect(found).toHaveLength(3);
  return found as [string, string, string];
}

test("in each step of a rotation, every instance opens what the previous and the next step seal", async () => {
  const before = `${newKey("2026-10")}, ${newKey("2026-09")}`;
  const [first, second, third] = await steps(before, "2026-11");
  const phases = [before, first, second, third];
  for (const [index, phase] of phases.entries()) {
    const next = phases[index + 1] ?? phase;
    // During a deployment, two neighbouring steps are in use at once. What step 1 sealed has expired by step 3.
    expect(opens(next, phase), `${index} opens ${index + 1}`).toBe(true);
    expect(opens(phase, next), `${index + 1} opens ${index}`).toBe(true);
  }
  expect(parseKeys(first).sealing.id).toBe("2026-10");
  expect(parseKeys(second).sealing.id).toBe("2026-11");
  const everything = ["2026-09", "2026-10", "2026-11"];
  expect([...parseKeys(first).opening.keys()].toSorted()).toEqual(everything);
  expect([...parseKeys(second).opening.keys()].toSorted()).toEqual(everything);
  expect([...parseKeys(third).opening.keys()]).toEqual(["2026-11"]);
});

test("the new key gets an unused id, and an id in use is refused", async () => {
  const today = new Date().toISOString().slice(0, 10);
  const [, second] = await steps(newKey(today));
  expect([...parseKeys(second).opening.keys()]).toEqual([`${today}-2`, today]);
  const present = { PARLEY_KEYS: newKey("a") };
  await expect(run(keys, ["rotate", "a"], present)).rejects.toThrow('the key "a" exists');
});

test("rotates keys from a file, and refuses to rotate if none were given", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-keys-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "keys");
  writeFileSync(file, `${newKey("old")}\n`);
  const { out } = await run(keys, ["rotate", "new", "--keys-file", file, "--json"]);
  const { id, steps: found } = JSON.parse(out) as { id: string; steps: { keys: string }[] };
  expect(id).toBe("new");
  expect(found.map((step) => [...parseKeys(step.keys).opening.keys()])).toEqual([
    ["old", "new"],
    ["new", "old"],
    ["new"],
  ]);
  // A development key must not be rotated into production.
  const empty = inEmptyFolder();
  mkdirSync(join(empty, ".parley"));
  writeFileSync(join(empty, ".parley/keys"), newKey("dev"), { mode: 0o600 });
  await expect(run(keys, ["rotate"], { PARLEY_KEYS: "" })).rejects.toThrow(
    "no current keys to rotate",
  );
  await expect(run(keys, ["rotate"], { PARLEY_KEYS: "x:y" })).rejects.toThrow(
    `PARLEY_KEYS: key "x"`,
  );
  await expect(run(keys, ["rotate", "--keys-file", "/none"])).rejects.toThrow("Cannot read /none");
});
