// Says in seven lines what happened, and whether that is correct.

import { counted } from "../screen/amounts.ts";
import type { CloudRequest } from "./cloud.ts";
import type { Deed } from "./replicas.ts";

/** What was observed. */
export interface Evidence {
  /** The replica of each round. */
  readonly rounds: readonly number[];
  /** The keys of the questions, in order. */
  readonly asked: readonly string[];
  readonly becameTask: boolean;
  readonly killed: { readonly replica: number; readonly at: number } | undefined;
  readonly deeds: readonly Deed[];
  /** The requests that the cloud received. */
  readonly requests: readonly CloudRequest[];
  readonly hasResult: boolean;
  /** Whether a client that cannot be asked was given a page, and its call came to an end. */
  readonly hadPage: boolean;
}

/** One line of the verdict. */
export interface Line {
  readonly text: string;
  readonly holds: boolean;
}

/** How much longer than a lease the takeover may take, because this machine can be busy. */
const slackMs = 5_000;

/** The verdict. */
export function verdict(evidence: Evidence, leaseMs: number): readonly Line[] {
  const { rounds, asked, becameTask, killed, deeds, requests, hasResult, hadPage } = evidence;
  const goesOn = deeds.findLast(({ what }) => what === "create");
  const isTakenOver =
    killed !== undefined && goesOn !== undefined && goesOn.replica !== killed.replica;
  const afterMs = isTakenOver ? goesOn.at - killed.at : Infinity;
  const times = (what: Deed["what"]) => requests.filter((request) => request.what === what).length;
  const creations = requests.filter(({ what }) => what === "create");
  const keys = new Set(creations.map(({ idempotencyKey }) => idempotencyKey));
  const vms = new Set(creations.map(({ vm }) => vm));
  return [
    {
      text: `The call took ${counted(rounds.length, "round")}, on replica ${rounds.join(" and ")}. No server kept it in between.`,
      holds: rounds.length === 2 && rounds[0] !== rounds[1],
    },
    {
      text: `You were asked ${counted(asked.length, "question")}${asked.length === 0 ? "" : `: ${asked.map(about).join(", then ")}`}.`,
      holds: asked.join() === "buy,network",
    },
    {
      text: becameTask
        ? "After you agreed, the call continued in the background, as a task."
        : "The call never moved to the background.",
      holds: becameTask,
    },
    {
      text:
        killed === undefined
          ? "No replica was killed."
          : `Replica ${killed.replica} was killed (kill -9) while it was creating the VM.`,
      holds: killed !== undefined,
    },
    {
      text: isTakenOver
        ? `Replica ${goesOn.replica} took over ${(afterMs / 1_000).toFixed(1)} s later${hasResult ? "" : ", but there is no result"}. ${repeated(times)}.`
        : "No other replica took over, so the task is lost.",
      holds: afterMs <= leaseMs + slackMs && hasResult && times("price") + times("configure") === 2,
    },
    {
      text: `The cloud received ${counted(creations.length, "request")} with ${counted(keys.size, "idempotency key")}, and created ${counted(vms.size, "VM")}.`,
      holds: creations.length === 2 && keys.size === 1 && vms.size === 1,
    },
    {
      text: hadPage
        ? "A client that cannot be asked got a page instead, from the same tool."
        : "A client that cannot be asked got no page.",
      holds: hadPage,
    },
  ];
}

const about = (key: string): string =>
  ({ buy: "the price", network: "the network (in the background)" })[key] ?? key;

function repeated(times: (what: Deed["what"]) => number): string {
  const again = (["price", "configure"] as const).filter((what) => times(what) > 1);
  if (again.length === 0) return "No finished step was repeated";
  return `Repeated: ${again.map((what) => `${what} (${times(what)}×)`).join(", ")}`;
}
