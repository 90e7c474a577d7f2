// Plays the demo from its start to its verdict. No process and no file is left, however it ends.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { CallError } from "../../client/index.ts";
import { exit } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { demoReplica, demoTool } from "../own-files.ts";
import { Interrupted } from "../prompts/person.ts";
import { signs, style } from "../screen/style.ts";
import { printerFor } from "../screen/printer.ts";
import { atTheTerminal, Narrator, script } from "./narrator.ts";
import { ReplicaInterrupted, sharedFiles } from "./replicas.ts";
import { Story } from "./story.ts";
import { verdict } from "./verdict.ts";

/** How to play the demo. */
export interface Playing {
  readonly isAuto: boolean;
  readonly io: Io;
  /** Printed first, once Ctrl-C is handled. */
  readonly opening?: string;
  /** The program of a replica. A test passes a broken one. */
  readonly replica?: string | undefined;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Plays the demo. */
export async function playDemo({
  isAuto,
  io,
  opening = "",
  replica = demoReplica,
}: Playing): Promise<ExitCode> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const signal of signals) process.on(signal, interrupt);
  io.err(opening);
  const folder = mkdtempSync(join(tmpdir(), "parley-demo-"));
  const printer = printerFor(io);
  const narrator = new Narrator(printer);
  const person = isAuto ? script(narrator) : atTheTerminal(printer);
  const story = new Story({ replica, folder, narrator, person });
  try {
    const playing = story.play(stop.signal).catch((error: unknown) => {
      const isInterrupt = error instanceof Interrupted || error instanceof ReplicaInterrupted;
      if (isInterrupt) return interrupt();
      if (stop.signal.aborted) return undefined;
      if (!(error instanceof CallError)) throw error;
      return narrator.tell("result", `none: ${error.message}`);
    });
    await Promise.race([playing, aborted(stop.signal)]);
    if (stop.signal.aborted) {
      io.err("\nInterrupted. Nothing is left behind.\n");
      return exit.interrupted;
    }
    if (story.wasRefused) {
      io.err("\nYou declined, so the demo ends here. Run it again and accept.\n");
      return exit.failed;
    }
    return judge(story, folder, io);
  } finally {
    await story.end();
    for (const signal of signals) process.off(signal, interrupt);
    rmSync(folder, { recursive: true, force: true });
  }
}

function judge(story: Story, folder: string, io: Io): ExitCode {
  const lines = verdict(story.evidence(), sharedFiles(folder).leaseMs);
  io.out("\nWhat happened\n");
  for (const { text, holds } of lines) io.out(` ${holds ? signs.done : signs.failed} ${text}\n`);
  if (!lines.every(({ holds }) => holds)) {
    io.err(style.red(`\nSomething went wrong: see the lines marked ${signs.failed}.\n`));
    return exit.failed;
  }
  const tool = relative(process.cwd(), demoTool);
  io.err(`\n${style.dim("The code of this tool:")} ${tool}\n`);
  io.err(`${style.dim("Create your own server:")} npx mcp-parley init my-server\n`);
  return exit.done;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
