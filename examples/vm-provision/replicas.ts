// Replicas of server.ts, each a process of its own, and what they do.

import { fileURLToPath } from "node:url";
import { start } from "../child.ts";
import type { Child } from "../child.ts";

export interface Deed {
  /** From 1. */
  readonly replica: number;
  readonly what: string;
  readonly at: number;
}

export interface Replicas {
  readonly urls: readonly string[];
  /** What they have done so far. */
  readonly deeds: readonly Deed[];
  /** Resolves when one of them does this for the first time from now on. */
  readonly first: (what: string) => Promise<Deed>;
  readonly kill: (replica: number, signal: NodeJS.Signals) => void;
}

export async function startReplicas(count: number, env: Record<string, string>): Promise<Replicas> {
  const file = fileURLToPath(new URL("server.ts", import.meta.url));
  const children = Array.from({ length: count }, () => start(file, env));
  const deeds: Deed[] = [];
  const listeners: ((deed: Deed) => void)[] = [];

  /** Goes on for as long as the replica lives. */
  async function watch(child: Child, replica: number, onUrl: (url: string) => void) {
    for await (const line of child.lines) {
      const [kind, ...words] = line.split(" ");
      const what = words.join(" ");
      if (kind === "url") onUrl(what);
      if (kind !== "does") continue;
      console.log(`  replica ${replica} ${what}`);
      const deed = { replica, what, at: Date.now() };
      deeds.push(deed);
      for (const listener of listeners) listener(deed);
    }
  }

  const urlOf = (child: Child, index: number) =>
    new Promise<string>((resolve, reject) => {
      const tooSoon = () => reject(new Error(`replica ${index + 1} ended before it listened`));
      void watch(child, index + 1, resolve).then(tooSoon);
    });

  return {
    urls: await Promise.all(children.map(urlOf)),
    deeds,
    first: (what) =>
      new Promise((resolve) => {
        listeners.push((deed) => {
          if (deed.what === what) resolve(deed);
        });
      }),
    kill: (replica, signal) => children[replica - 1]?.kill(signal),
  };
}
