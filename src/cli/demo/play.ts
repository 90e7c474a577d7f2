// From nothing to a verdict, and back to nothing: whatever happens, no process and no file is left.

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
import { talkOf } from "../screen/talk.ts";
import { Narrator } from "./narrator.ts";
import { atTheTerminal, script } from "./person.ts";
import { placeIn } from "./place.ts";
import { Story } from "./story.ts";
import { verdict } from "./verdict.ts";

export interface Playing {
  readonly isAuto: boolean;
  readonly io: Io;
  /** What is printed first, once Ctrl-C is heard. */
  readonly opening?: string;
  /** A test has others, to see the story fail. */
  readonly replica?: string | undefined;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

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
  const talk = talkOf(io);
  const narrator = new Narrator(talk);
  const person = isAuto ? script(narrator) : atTheTerminal(talk);
  const story = new Story({ replica, folder, narrator, person });
  try {
    const playing = story.play(stop.signal).catch((error: unknown) => {
      if (error instanceof Interrupted) return interrupt();
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
      io.err("\nYou said no, so the story ends here. Run it again and say yes.\n");
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
  const lines = verdict(story.evidence(), placeIn(folder).leaseMs);
  io.out("\nWhat happened\n");
  for (const { text, holds } of lines) io.out(` ${holds ? signs.done : signs.failed} ${text}\n`);
  if (!lines.every(({ holds }) => holds)) {
    io.err(style.red("\nThat is not how it should be.\n"));
    return exit.failed;
  }
  const tool = relative(process.cwd(), demoTool);
  io.err(`\n${style.dim("The tool:")} ${tool}\n`);
  io.err(`${style.dim("Your own:")} npx mcp-parley init my-server\n`);
  return exit.done;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
