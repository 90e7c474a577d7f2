// A replica as a process. It runs the tasks of one tool and writes a line about everything that happens to them. SIGTERM
// drains it.

import process from "node:process";
import type { StepInfo } from "../../src/replay/operations.ts";
import { Engine } from "../../src/tasks/engine.fixture.ts";
import { openStore, ordersHere } from "./place.ts";
import type { Place } from "./place.ts";
import { say } from "./replica-process.ts";
import { trip } from "./trip.fixture.ts";

export interface ReplicaOrders {
  readonly place: Place;
  readonly tool: string;
  /** What its bodies do. */
  readonly bodies: "return" | "wait" | "wait in vain";
  /** Where it stops, once, until another process continues it. It is as if the whole machine paused. */
  readonly freezes?: "in its body" | "before it writes" | undefined;
  /** If false, no hint reaches this process. */
  readonly hints?: boolean | undefined;
  readonly drainMs?: number | undefined;
  /** How often it looks for work, in case a hint was lost. */
  readonly pollMs?: number | undefined;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by who started this process
const orders = ordersHere() as ReplicaOrders;
const { place, tool, bodies, freezes, hints = true, drainMs = 5_000, pollMs = 250 } = orders;
let hasFrozen = false;
const store = openStore(place);
const deaf = { ...store, subscribe: () => () => {} };
const engine = new Engine(
  {
    ...(hints ? store : deaf),
    append: async (ref, more) => {
      freeze("before it writes");
      const isWritten = await store.append(ref, more);
      say({ isWritten, id: ref.id });
      return isWritten;
    },
  },
  { [tool]: trip({ body, tell: (told) => say({ told }) }) },
  { limits: { drainMs } },
);
process.on("SIGTERM", () => void leave());
await engine.start({ name: `replica-${process.pid}`, pollMs });
say({ isReady: true });

function freeze(where: ReplicaOrders["freezes"]): void {
  if (hasFrozen || freezes !== where) return;
  hasFrozen = true;
  process.kill(process.pid, "SIGSTOP");
}

async function leave(): Promise<void> {
  await engine.close();
  await store.close();
  process.exit(0);
}

function body({ signal }: StepInfo): unknown {
  say({ started: true });
  freeze("in its body");
  switch (bodies) {
    case "return":
      return `by ${process.pid}`;
    case "wait":
    case "wait in vain":
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          const reason: unknown = signal.reason;
          say({ aborted: reason instanceof Error ? reason.name : "?" });
          if (bodies === "wait") reject(new Error("aborted"));
        });
      });
  }
}
