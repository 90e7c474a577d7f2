// npm run interop -- go-sdk
//
// Installs peers, runs every errand with them in both directions, keeps the transcripts and writes the table of
// docs/interop.md.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import process from "node:process";
import { ourServer, withConnect, withOfficial } from "./our-side.ts";
import { isInstalled, peers, printed, started } from "./peers.ts";
import type { Peer } from "./peers.ts";
import { ofWithTasks, toParley, toPeer } from "./peer-errands.ts";
import type { Errand, Job, Outcome } from "./peer-errands.ts";
import { record } from "./recorder.ts";
import { writeTable } from "./table.ts";
import { tidyWith } from "./tidy.ts";
import { fileOf, lenientOf, written } from "./transcript.ts";
import type { Direction, Passed, Transcript, Verdict } from "./transcript.ts";

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

type Run = (url: string, errand: Errand) => Promise<Outcome>;

/** Does one errand through a recorder, and keeps what passed. */
async function kept(
  peer: Peer,
  direction: Direction,
  capability: string,
  server: string,
  run: Run,
  keptAs = capability,
): Promise<Verdict> {
  const asked = (direction === "to-parley" ? toParley : toPeer)[capability];
  if (asked === undefined) throw new Error(`There is no errand "${capability}".`);
  const job = spoken(peer, asked);
  const recorder = await record(server);
  const outcome = await run(recorder.url, job.errand);
  await recorder.close();
  const verdict = verdictOf(peer, direction, job, outcome, recorder.passed);
  say(`${verdict}: ${direction} ${keptAs}`);
  if (verdict === "fails") say(`  ${JSON.stringify(outcome)}`);
  const { passed, told } = tidyWith(recorder.passed, outcome);
  const transcript: Transcript = {
    notice: `Made by "npm run interop -- ${peer.name}" with ${peer.name} ${peer.version}. Do not edit it.`,
    peer: peer.name,
    version: peer.version,
    direction,
    capability: keptAs,
    errand: job.errand,
    outcome: told,
    verdict,
    passed,
  };
  writeFileSync(fileOf(transcript), written(transcript));
  return verdict;
}

/** Lets their client do an errand with our server. If a task cannot be followed, the server tries to be lenient. */
async function toOurs(peer: Peer, capability: string, lenientTaskRouting = false): Promise<void> {
  const app = ourServer({ lenientTaskRouting });
  const { url } = await app.listen(0);
  const run: Run = async (place, errand) =>
    JSON.parse(await printed(programs(peer, errand).client, place, JSON.stringify(errand)));
  const name = lenientTaskRouting ? lenientOf(capability) : capability;
  const verdict = await kept(peer, "to-parley", capability, url, run, name);
  await app.close();
  const isTask = toParley[capability]?.errand.task !== undefined;
  if (verdict === "fails" && isTask && !lenientTaskRouting) await toOurs(peer, capability, true);
}

/** A peer that speaks one version gets every errand without one, so that both sides have to find it. */
function spoken({ speaks }: Peer, { errand, ends }: Job): Job {
  const { era, ...open } = errand;
  return { errand: speaks === undefined || speaks === era ? errand : open, ends };
}

function verdictOf(
  { hasTasks }: Peer,
  direction: Direction,
  { errand, ends }: Job,
  outcome: Outcome,
  passed: readonly Passed[],
): Verdict {
  const isPassed = (text: string) => passed.some((one) => JSON.stringify(one).includes(text));
  if (isDeepStrictEqual(outcome, ends)) {
    if (errand.task === undefined) return errand.era === undefined ? "earlier" : "works";
    if (!isPassed('"resultType":"task"')) return "in the request";
    const isMissed = errand.task === "listen" && !isPassed('"method":"notifications/tasks"');
    return isMissed ? "polled" : "works";
  }
  if (outcome.absent === "push") return "no push";
  const can = direction === "to-parley" ? hasTasks.client : hasTasks.server;
  return errand.task !== undefined && !can ? "no tasks" : "fails";
}

/** The programs of a peer that speak the version of the errand. */
const programs = (peer: Peer, { era }: Errand) =>
  era === "2025-11-25" ? (peer.legacy ?? peer) : peer;

async function interop(peer: Peer): Promise<void> {
  peer.install();
  const folder = new URL(".", fileOf({ peer: peer.name, direction: "connect", capability: "" }));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const capability of Object.keys(toParley)) await toOurs(peer, capability);
  const clients = [
    ["connect", withConnect, Object.keys(toPeer)],
    ["with-tasks", withOfficial, ofWithTasks],
  ] as const;
  for (const [direction, run, capabilities] of clients) {
    for (const programsOfEra of new Set([peer, peer.legacy ?? peer])) {
      const server = await started(programsOfEra.server);
      for (const capability of capabilities) {
        const errand = toPeer[capability]?.errand;
        if (errand === undefined || programs(peer, errand) !== programsOfEra) continue;
        await kept(peer, direction, capability, server.url, run);
      }
      server.stop();
    }
  }
}

/** Peers whose transcripts were made with programs that are not in this repository. */
const elsewhere = ["mcpkit"];

const names = process.argv.slice(2);
const known = [...peers.map(({ name }) => name), ...elsewhere];
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no peer "${unknown[0]}". The peers are: ${known.join(", ")}.\n`);
  process.exit(2);
}
for (const name of elsewhere) {
  if (names.length > 0 && !names.includes(name)) continue;
  say(`${name} is skipped, because its programs are not in this repository.`);
}
for (const peer of peers) {
  if (names.length > 0 && !names.includes(peer.name)) continue;
  if (!isInstalled(peer.toolchain)) {
    say(`${peer.name} is skipped, because "${peer.toolchain[0]}" is not installed.`);
    continue;
  }
  say(`${peer.name} ${peer.version}`);
  await interop(peer);
}
writeTable();
