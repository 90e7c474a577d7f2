// Calls over HTTP: the fast entry against all opponents that can serve them.

import type { Bench } from "../bench.ts";
import { compare, converse, sharedServer, usualConnections, warmUp } from "../http/compare.ts";
import type { Contender, Samples, Server } from "../http/compare.ts";
import { fixed } from "../http/conversation.ts";
import type { Conversation } from "../http/conversation.ts";
import type { Workload } from "../http/workloads.ts";
import { median, short, shown, table } from "../figures.ts";

/** `others` are compared in addition to the fast entry and the bare server. */
export async function measureCalls(
  bench: Bench,
  workload: Workload,
  others: readonly string[],
  connectionCounts: readonly number[],
): Promise<void> {
  const contenders = await contendersFor(bench, workload, others);
  await warmUp(bench, contenders);
  for (const connections of connectionCounts) {
    const samples = await compare(bench, contenders, connections);
    report(bench, workload, connections, samples);
  }
}

async function contendersFor(
  bench: Bench,
  workload: Workload,
  others: readonly string[],
): Promise<readonly Contender[]> {
  const contenders: Contender[] = [];
  const fast = await sharedServer(bench, "fast");
  const conversation = await converse(bench, fast, workload);
  const yardsticks = ["bare", ...others.filter((name) => name === "batched")];
  for (const name of yardsticks) {
    contenders.push(await bareContender(await sharedServer(bench, name), conversation));
  }
  contenders.push({ name: "fast", server: fast, legs: conversation.legs });
  for (const name of others.filter((one) => !yardsticks.includes(one))) {
    const server = await sharedServer(bench, name);
    contenders.push({ name, server, legs: (await converse(bench, server, workload)).legs });
  }
  return contenders;
}

/** A bare server gets the requests of this conversation and sends its responses. */
export async function bareContender(
  server: Server,
  conversation: Conversation,
): Promise<Contender> {
  const answers = conversation.said.map(({ response }): unknown => JSON.parse(response));
  await server.process.ask("tell", answers);
  return { name: server.name, server, legs: fixed(conversation) };
}

function report(
  { figures }: Bench,
  { name: workload, questions }: Workload,
  connections: number,
  all: ReadonlyMap<string, Samples>,
): void {
  const at = connections === usualConnections ? "" : `@${connections}`;
  const fast = all.get("fast");
  const bare = all.get("bare");
  if (fast === undefined || bare === undefined) return;
  const legs = questions.length + 1;
  console.log(
    `\n  ${workload}: ${legs === 1 ? "requests" : `each of its ${legs} legs`}, ${connections} connections`,
  );
  const rows = [["", "a second", "CPU µs", "fast ÷ it", "CPU: fast ÷ it", "client µs"]];
  for (const [name, { perSecond, cpuMicros, clientMicros }] of all) {
    const numbers = [short(median(perSecond)), short(median(cpuMicros))];
    const ratios =
      name === "fast"
        ? ["", ""]
        : [
            shown(figures.ratio(`${workload}/fast÷${name}${at}`, fast.perSecond, perSecond)),
            shown(figures.ratio(`${workload}/fast÷${name}${at} cpu`, fast.cpuMicros, cpuMicros)),
          ];
    if (name === "fast" || name === "bare") {
      figures.add(`${workload}/${name} cpu µs${at}`, ...cpuMicros);
      figures.add(`${workload}/${name} a second${at}`, ...perSecond);
    }
    rows.push([name, ...numbers, ...ratios, short(median(clientMicros))]);
  }
  table(rows);
  figures.ratio(`${workload}/client÷bare${at} cpu`, bare.clientMicros, bare.cpuMicros);
}
