// The replicas as the parent process sees them: it starts, kills, stops, drains and replaces them.

import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Setting } from "./setting.ts";

/** Longer than bodies may take when their process shuts down. */
const drainMs = 5_000;

/** Kills the remaining replicas when this process is gone, and removes the folder. */
export class Keeper {
  readonly #process: ChildProcessByStdio<Writable, null, null>;
  readonly #ended: Promise<void>;

  constructor(folder: string) {
    const script = fileURLToPath(new URL("keeper.mjs", import.meta.url));
    this.#process = spawn(process.execPath, [script, folder], {
      // It has a process group of its own, so that Ctrl-C does not end it before its work is done.
      detached: true,
      stdio: ["pipe", "ignore", "inherit"],
    });
    this.#process.stdin.on("error", () => {});
    this.#ended = new Promise((resolve) => void this.#process.once("close", () => resolve()));
  }

  readonly started = (pid: number): void => void this.#process.stdin.write(`+${pid}\n`);
  readonly ended = (pid: number): void => void this.#process.stdin.write(`-${pid}\n`);

  readonly close = (): Promise<void> => {
    this.#process.stdin.end();
    return this.#ended;
  };
}

export class Replica {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<void>;
  isPaused = false;
  isGone = false;
  /** Whether it drains and takes no more tasks. */
  isEnding = false;
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #log: Log;
  readonly #ready: Promise<void>;
  readonly #created = new Map<string, () => void>();

  constructor(script: string, name: string, setting: Setting, keeper: Keeper, log: Log) {
    this.name = name;
    const child = spawn(process.execPath, [script, JSON.stringify({ name, setting })], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#process = child;
    this.#log = log;
    this.pid = child.pid ?? 0;
    keeper.started(this.pid);
    child.stdin.on("error", () => {});
    this.exited = new Promise((resolve) => {
      child.once("close", () => {
        this.isGone = true;
        keeper.ended(this.pid);
        resolve();
      });
    });
    this.#ready = new Promise((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line === "ready") resolve();
        else if (line.startsWith("created ")) this.#created.get(line.slice(8))?.();
        else log(line);
      });
    });
  }

  /** Resolves when the replica works, or when it is gone before that. */
  readonly settled = (): Promise<void> => Promise.race([this.#ready, this.exited]);

  /** Resolves when the replica acknowledges the call, or never. */
  readonly create = (call: { readonly callId: string }): Promise<void> =>
    new Promise((resolve) => {
      this.#created.set(call.callId, resolve);
      this.#process.stdin.write(`${JSON.stringify(call)}\n`);
    });

  readonly kill = (): void => this.#signal("SIGKILL");

  readonly pause = (): void => {
    this.isPaused = true;
    this.#signal("SIGSTOP");
  };

  readonly resume = (): void => {
    this.isPaused = false;
    this.#signal("SIGCONT");
  };

  readonly end = (): void => {
    this.isEnding = true;
    this.#process.stdin.write("end\n");
    const late = setTimeout(() => this.#log("a replica did not end when it was drained"), drainMs);
    void this.exited.then(() => clearTimeout(late));
  };

  /** Sends a signal through the handle of the process, which knows whether the process is still the same. */
  #signal(signal: NodeJS.Signals): void {
    if (!this.isGone) this.#process.kill(signal);
  }
}

export type Log = (line: string) => void;

export class Replicas {
  readonly #start: (name: string) => Replica;
  readonly #wanted: number;
  #all: Replica[] = [];
  #count = 0;

  constructor(wanted: number, start: (name: string) => Replica) {
    this.#wanted = wanted;
    this.#start = start;
  }

  /** Replaces replicas that are dead or draining, until there are enough. */
  readonly fill = (): void => {
    this.#all = this.#all.filter(({ isGone }) => !isGone);
    while (this.present().length < this.#wanted) {
      this.#count += 1;
      const replica = this.#start(`replica-${this.#count}`);
      this.#all.push(replica);
    }
  };

  readonly settled = async (): Promise<void> => {
    await Promise.all(this.#all.map((replica) => replica.settled()));
  };

  /** The replicas that do not drain. */
  readonly present = (): readonly Replica[] =>
    this.#all.filter(({ isGone, isEnding }) => !isGone && !isEnding);

  readonly awake = (): readonly Replica[] => this.present().filter(({ isPaused }) => !isPaused);

  /** Continues and drains all replicas, and kills those that do not end. */
  readonly close = async (): Promise<void> => {
    for (const replica of this.#all) {
      replica.resume();
      replica.end();
    }
    const late = setTimeout(() => this.kill(), drainMs + 1_000);
    await Promise.all(this.#all.map(({ exited }) => exited));
    clearTimeout(late);
  };

  readonly kill = (): void => {
    for (const replica of this.#all) replica.kill();
  };
}
