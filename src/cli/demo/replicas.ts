// Two replicas, each a process of its own, and what they tell of themselves.

import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import process from "node:process";
import { newKey } from "../../token/keyring.ts";
import type { CloudRequest } from "./cloud.ts";
import type { Told } from "./replica.ts";

export interface Deed {
  /** From 1. */
  readonly replica: number;
  readonly what: CloudRequest["what"];
  readonly at: number;
}

export class Replicas {
  readonly #children: readonly ChildProcess[];

  /** `file` is run by this Node, with the options this process has itself: in a clone that is tsx. */
  constructor(file: string, folder: string, onDeed: (deed: Deed) => void) {
    const env = { ...process.env, PARLEY_KEYS: newKey("demo") };
    this.#children = [1, 2].map((replica) => {
      const child = fork(file, [folder], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
      return child.on("message", (told: Told) => {
        if (told.kind === "does") onDeed({ replica, what: told.what, at: Date.now() });
      });
    });
  }

  /** Where they listen, once they do. */
  readonly urls = (): Promise<string[]> => Promise.all(this.#children.map(urlOf));

  readonly kill = (replica: number): void => void this.#children[replica - 1]?.kill("SIGKILL");

  readonly end = async (): Promise<void> => {
    await Promise.all(this.#children.map(endOf));
  };
}

function urlOf(child: ChildProcess, index: number): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on("message", (told: Told) => {
      if (told.kind === "listens") resolve(told.url);
    });
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`Replica ${index + 1} ended before it listened.`)));
  });
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on("exit", () => resolve());
    // Not asked nicely: there is nobody left to hand anything over to.
    child.kill("SIGKILL");
  });
}
