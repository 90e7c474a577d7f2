// A person clones a repository whose `.parley` folder is hostile. The test runs every command that reads this folder
// when it is given no target. None may start a program, send or print a secret, write outside the folder, or pass
// control characters on.

import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { referenceAt } from "../../src/cli/journal/reference.ts";
import { referenceTo, stateOf } from "../../src/client/reference.ts";
import { form, hostile } from "../../src/client/hostile.fixture.ts";
import { newKey } from "../../src/token/keyring.ts";
import { emptyFolder, parley } from "../cli/run.ts";

const wipe = "\u001B[2J\u009B2J\u001B]0;mine\u0007";
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const harmful = /\u001B\[2J|\u009B|\u001B\]0|\u0007/;
const secrets = { PARLEY_TOKEN: "secret-token", PARLEY_KEYS: newKey("secret-key") };

/** A server that asks a question, and notes what it hears. */
async function listening() {
  const { url, heard, close } = await hostile(({ method }) =>
    method === "tools/list"
      ? { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: [] }
      : { resultType: "input_required", requestState: "s", inputRequests: { name: form("Who?") } },
  );
  onTestFinished(close);
  return { url, heard };
}

/** The state of a call that another person left in a folder. */
async function foreignState(url: string) {
  const cwd = emptyFolder();
  await parley(["call", url, "text"], { cwd, env: { XDG_CONFIG_HOME: emptyFolder() } });
  const calls = join(cwd, ".parley/calls");
  const [file = ""] = readdirSync(calls);
  const marked = readFileSync(join(calls, file), "utf8");
  const [, , , , ...reference] = marked.split(".");
  return { marked, state: stateOf(reference.join(".")) };
}

test("a cloned folder makes no command start a program, give a secret away or write elsewhere", async () => {
  const { url, heard } = await listening();
  const { marked, state } = await foreignState(url);
  const cwd = emptyFolder();
  const outside = emptyFolder();
  const calls = join(cwd, ".parley/calls");
  mkdirSync(calls, { recursive: true });
  const program = { kind: "command", command: "touch", args: ["ran", wipe], cwd } as const;
  const called = (id: string) => ({ ...state, id: id + state.id.slice(8), taskId: wipe });
  const starting = (id: string) => referenceAt(program, referenceTo(called(id)));
  const server = { kind: "url", url } as const;
  const asking = referenceAt(server, referenceTo({ ...state, id: `aaaaaaaa${state.id.slice(8)}` }));
  const mark = marked.split(".").slice(0, 2).join(".");
  const files: Readonly<Record<string, string>> = {
    "aaaaaaaa.call": asking,
    "bbbbbbbb.call": starting("bbbbbbbb"),
    "cccccccc.call": `own1.${"A".repeat(43)}.${starting("cccccccc")}`,
    "dddddddd.call": `${mark}.${starting("dddddddd")}`,
    "eeeeeeee.call": `${wipe}${"x".repeat(2_000_000)}`,
    "ffffffff.call": "",
    "abababab\u001B[2J.call": starting("abababab"),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(calls, name), text);
  writeFileSync(join(outside, "precious"), "precious");
  symlinkSync(join(outside, "precious"), join(calls, "acacacac.call"));
  symlinkSync(outside, join(calls, "adadadad.call"));
  writeFileSync(join(cwd, ".parley/keys"), newKey("shared"));
  chmodSync(join(cwd, ".parley/keys"), 0o644);
  writeFileSync(join(cwd, "server.ts"), 'import fs from "node:fs"; fs.writeFileSync("ran", "");');
  writeFileSync(
    join(cwd, "package.json"),
    JSON.stringify({ main: "server.ts", parley: "server.ts" }),
  );
  const ids = ["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd", "abababab"];
  const words = [
    ["resume"],
    ["tasks", "ls"],
    ...ids.flatMap((id) => [
      ["resume", id, "--answer", "name=Ada"],
      ["tasks", "get", id],
      ["tasks", "cancel", id],
    ]),
    ["token", "v1.shared.AAAA"],
  ];
  heard.length = 0;
  for (const args of words) {
    const { stdout, stderr } = await parley(args, { cwd, env: secrets });
    const printed = stdout + stderr;
    if (args.includes("bbbbbbbb")) expect(printed).toContain("it would start a program: touch ran");
    if (args.includes("resume") && args.includes("aaaaaaaa"))
      expect(printed).toContain("is not sent");
    expect(printed).not.toMatch(harmful);
    for (const secret of Object.values(secrets)) expect(printed).not.toContain(secret);
    expect(printed).not.toMatch(/\n {4}at /);
    expect(printed.length).toBeLessThan(20_000);
  }
  expect(readdirSync(cwd)).not.toContain("ran");
  expect(readdirSync(outside)).toEqual(["precious"]);
  expect(readFileSync(join(outside, "precious"), "utf8")).toBe("precious");
  // A command may ask another person's server, but not with this person's token.
  expect(JSON.stringify(heard.map(({ headers }) => headers))).not.toContain("secret-token");
});
