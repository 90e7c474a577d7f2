// The token's share of a round: processor time for one seal and one open of a call's own token, against processor time on
// the fast entry, in turns within one run.
//
// `token/share` uses the two-round call: its first leg seals and its second opens, so both legs are counted. The other
// figure uses a round in the middle of a call, which does both by itself. Both send the same token again and again, so that
// the server has to decrypt it. Only the first time that a token of its own comes back does it not decrypt it.

import type { Bench } from "../bench.ts";
import { Child } from "../child.ts";
import { median, short, shown, table } from "../figures.ts";
import { converse, slice, startServer, usualConnections, warmUp } from "../http/compare.ts";
import type { Contender, Server } from "../http/compare.ts";
import { recorded, repeated } from "../http/conversation.ts";
import type { Conversation } from "../http/conversation.ts";
import { counted, twoRounds } from "../http/workloads.ts";
import type { Workload } from "../http/workloads.ts";

interface Case {
  readonly name: string;
  readonly contender: Contender;
  /** The number of legs that take one seal and one open together. */
  readonly legs: number;
  /** Input for the process that seals and opens. */
  readonly work: { readonly token: string; readonly params: Workload["params"] };
}

export async function measureTokenShare(bench: Bench): Promise<void> {
  const server = await startServer(bench, "fast");
  const worker = new Child("token work", bench.built("bench/http/token-work.ts"));
  try {
    const rows = [["", "seal and open, CPU µs", "its legs", "share"]];
    for (const one of await casesOn(bench, server)) rows.push(await measured(bench, one, worker));
    table(rows);
  } finally {
    await Promise.all([server.process.end(), worker.end()]);
  }
}

async function casesOn(bench: Bench, server: Server): Promise<readonly Case[]> {
  const two = await converse(bench, server, twoRounds);
  const threeRounds = counted(3);
  const three = await converse(bench, server, threeRounds);
  return [
    {
      name: "token/share",
      contender: {
        name: "two rounds",
        server,
        legs: recorded(two),
      },
      legs: 2,
      work: { token: firstToken(two), params: twoRounds.params },
    },
    {
      name: "token/share, a middle round",
      contender: { name: "a middle round", server, legs: repeated(three, 1) },
      legs: 1,
      work: { token: firstToken(three), params: threeRounds.params },
    },
  ];
}

async function measured(
  bench: Bench,
  { name, contender, legs, work }: Case,
  worker: Child,
): Promise<string[]> {
  const { figures, chance, pace } = bench;
  const { sliceMs: ms, rounds } = pace;
  const tokenMicros: number[] = [];
  const legMicros: number[] = [];
  const workTurn = async () => tokenMicros.push(await worker.ask<number>("work", { ...work, ms }));
  const legTurn = async () => {
    const { serverMicros, requests } = await slice(bench, contender, usualConnections, { ms });
    legMicros.push((legs * serverMicros) / requests);
  };
  await warmUp(bench, [contender]);
  await worker.ask("work", { ...work, ms });
  for (let round = 0; round < rounds; round += 1) {
    const turns = chance.isIt(0.5) ? [workTurn, legTurn] : [legTurn, workTurn];
    for (const turn of turns) await turn();
  }
  const share = figures.ratio(name, tokenMicros, legMicros);
  return [name, short(median(tokenMicros)), short(median(legMicros)), shown(share)];
}

function firstToken({ said }: Conversation): string {
  const { result }: { readonly result: { readonly requestState: string } } = JSON.parse(
    said[0]?.response ?? "",
  );
  return result.requestState;
}
