// `parley demo`, as a program, on real processes.

import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { program } from "../programs.ts";
import { keys, parleyOnScreen } from "./screen.ts";
import type { Screen } from "./screen.ts";

const root = resolve(import.meta.dirname, "../..");
/** Starts the demo as in a clone, where `npm start` uses tsx. The other tests start compiled code. */
const demo = ["--import", "tsx", join(root, "src/cli/main.ts"), "demo"];
const broken = program("test/cli/demo-broken.ts");

/** The folder for temporary files. Every replica has it among its arguments, so it shows what is left behind. */
function emptyFolder(atEnd: (end: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-demo-test-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function leftIn(folder: string): readonly string[] {
  const processes = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  return [
    // The files that tsx keeps there do not count.
    ...readdirSync(folder).filter((name) => name.startsWith("parley-")),
    ...processes.filter((line) => line.includes(folder)),
  ];
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  return new Promise((settle) => {
    const options = { env: { ...process.env, ...env }, timeout: 280_000 };
    const child = execFile(process.execPath, [...args], options, (_, stdout, stderr) =>
      settle({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

const seven = `
What happened
 ✔ The call took 2 rounds, on replica A and B. No server kept it in between.
 ✔ You were asked 2 questions: the price, then the network (in the background).
 ✔ After you agreed, the call continued in the background, as a task.
 ✔ Replica A was killed (kill -9) while it was creating the VM.
 ✔ Replica B took over T s later. No finished step was repeated.
 ✔ The cloud received 2 requests with 1 idempotency key, and created 1 VM.
 ✔ A client that cannot be asked got a page instead, from the same tool.
`;

test("without a terminal a script answers, the story holds, and nothing is left behind", async () => {
  const folder = emptyFolder();
  const { code, stdout, stderr } = await run(demo, { TMPDIR: folder });
  expect(stderr).toContain("Without a terminal, a script answers the questions (--auto).");
  const told = stdout
    .replace(/replica [12] and [12]/, "replica A and B")
    .replace(/Replica [12] was/, "Replica A was")
    .replace(/Replica [12] took over [\d.]+ s/, "Replica B took over T s");
  expect(told).toBe(seven);
  expect(stderr).toContain("web-1 runs as vm-1 in the private network, for $70 a month.");
  // In the order of the tool's code, whichever report arrives first.
  const lines = [...stderr.matchAll(/^ *[\d.]+ s {2}(?:replica \d|you|visitor|result) +(.*)$/gm)];
  expect(lines.map(([, line = ""]) => line.replaceAll(/[\d.]+/g, "N"))).toEqual([
    'call the tool provision_vm { name: "web-N", size: "large" }',
    "receives the call",
    "asks the cloud for the price",
    "asks you, and hands the state of the call to your client",
    expect.stringContaining("Create it? yes"),
    "receives your answer with the state, and continues",
    "moves the call to the background, as a task",
    "asks the cloud to create the VM, which takes N s",
    "takes over, and repeats the request with the same key",
    "asks you from the background",
    expect.stringContaining("private"),
    "connects the VM to the network",
    expect.stringContaining("runs as vm-N"),
    "gives its model the address of a page, for you",
    "opens the page, and answers no",
    expect.stringContaining("No VM was created"),
  ]);
  expect(`${stdout}${stderr}`.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(code).toBe(0);
  expect(leftIn(folder)).toEqual([]);
});

// They wait more than they compute, so they run at the same time.
test.concurrent.for([
  [
    "cloud forgets keys",
    "✖ The cloud received 2 requests with 1 idempotency key, and created 2 VMs.",
  ],
  ["each its own store", "✖ No other replica took over, so the task is lost."],
  ["no step", "later. Repeated: price ("],
])(
  "the verdict fails if the setup is broken: %s",
  async ([BROKEN = "", line = ""], { onTestFinished: atEnd }) => {
    const folder = emptyFolder(atEnd);
    const { code, stdout, stderr } = await run(broken, { TMPDIR: folder, BROKEN });
    expect(stdout).toContain(line);
    expect(stderr).toContain("Something went wrong: see the lines marked ✖.");
    expect(code).toBe(1);
    expect(leftIn(folder)).toEqual([]);
  },
);

test("a replica that Ctrl-C ends before the demo hears of it counts as an interruption", async () => {
  const folder = emptyFolder();
  const { code, stderr } = await run(broken, { TMPDIR: folder, BROKEN: "interrupted" });
  expect(stderr).toContain("Interrupted. Nothing is left behind.");
  expect(code).toBe(130);
  expect(leftIn(folder)).toEqual([]);
});

function onScreen(env: Record<string, string> = {}): Screen {
  const screen = parleyOnScreen(["demo"], { cwd: root, env });
  onTestFinished(() => screen.kill("SIGKILL"));
  return screen;
}

test("a person answers at the terminal, and nothing overwrites the question", async () => {
  const screen = onScreen();
  await screen.shows(/Create it\?\n.*● Yes/);
  screen.press(keys.enter);
  await screen.shows(/Which network is vm-1 for\?\n.*● public\n.*○ private/);
  screen.press(keys.down, keys.enter);
  await screen.shows(/web-1 runs as vm-1 in the private network, for \$70 a month\./);
  await screen.shows(/and created 1 VM\./);
  expect(await screen.ended).toBe(0);
});

test("declining the price ends the demo without a verdict", async () => {
  const screen = onScreen();
  await screen.shows(/Create it\?/);
  screen.press(keys.down, keys.enter);
  await screen.shows(/You declined, so the demo ends here\./);
  expect(await screen.ended).toBe(1);
  expect(screen.text()).not.toContain("What happened");
});

test.each([
  ["while it asks", /● Yes/],
  ["while it starts", /Two copies of a server start/],
])(
  "Ctrl-C %s leaves nothing behind",
  async (_, when) => {
    const folder = emptyFolder();
    const screen = onScreen({ TMPDIR: folder });
    await screen.shows(when);
    screen.press(keys.interrupt);
    await screen.shows(/Interrupted\. Nothing is left behind\./);
    expect(await screen.ended).toBe(130);
    expect(leftIn(folder)).toEqual([]);
  },
  120_000,
);

test("the replicas exit and remove their files if the demo is killed", async () => {
  const folder = emptyFolder();
  const screen = onScreen({ TMPDIR: folder });
  await screen.shows(/● Yes/);
  screen.kill("SIGKILL");
  await screen.ended;
  await expect.poll(() => leftIn(folder)).toEqual([]);
});
