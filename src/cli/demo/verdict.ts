// What happened, in six lines, and whether it is what should have happened.

import { counted } from "../screen/amounts.ts";
import type { CloudRequest } from "./cloud.ts";
import type { Deed } from "./replicas.ts";

export interface Evidence {
  /** Which replica served which round. */
  readonly rounds: readonly number[];
  /** The keys of the questions, in the order in which they were put. */
  readonly asked: readonly string[];
  readonly becameTask: boolean;
  readonly killed: { readonly replica: number; readonly at: number } | undefined;
  readonly deeds: readonly Deed[];
  /** What the cloud has been asked for. */
  readonly requests: readonly CloudRequest[];
  readonly hasResult: boolean;
}

export interface Line {
  readonly text: string;
  readonly holds: boolean;
}

/** How much later than a lease the other may go on: this machine may be busy. */
const slackMs = 5_000;

export function verdict(evidence: Evidence, leaseMs: number): readonly Line[] {
  const { rounds, asked, becameTask, killed, deeds, requests, hasResult } = evidence;
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
      text: `The call took ${counted(rounds.length, "round")}, on replica ${rounds.join(" and ")}; in between no server kept it.`,
      holds: rounds.length === 2 && rounds[0] !== rounds[1],
    },
    {
      text: `You were asked ${counted(asked.length, "question")}${asked.length === 0 ? "" : `: ${asked.map(about).join(", then ")}`}.`,
      holds: asked.join() === "buy,network",
    },
    {
      text: becameTask
        ? "After your yes it was a task in the background: nobody had to wait for it."
        : "It never became a task.",
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
        ? `Replica ${goesOn.replica} took over ${(afterMs / 1_000).toFixed(1)} s later${hasResult ? "; " : ", but came to no result; "}${repeated(times)}.`
        : "No other replica took over: the task is lost.",
      holds: afterMs <= leaseMs + slackMs && hasResult && times("price") + times("configure") === 2,
    },
    {
      text: `The cloud got ${counted(creations.length, "request")} for the VM under ${counted(keys.size, "idempotency key")}, and made ${counted(vms.size, "VM")}.`,
      holds: creations.length === 2 && keys.size === 1 && vms.size === 1,
    },
  ];
}

const about = (key: string): string =>
  ({ buy: "the price", network: "the network (by the task)" })[key] ?? key;

function repeated(times: (what: Deed["what"]) => number): string {
  const again = (["price", "configure"] as const).filter((what) => times(what) > 1);
  if (again.length === 0) return "nothing that was recorded was done again";
  return `done again: ${again.map((what) => `${what} (${times(what)}×)`).join(", ")}`;
}
