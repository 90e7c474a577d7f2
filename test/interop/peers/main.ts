// npm run interop -- go-sdk
//
// Installs peers, runs every errand with them in both directions, keeps the transcripts and writes the table of
// docs/interop.md.

import process from "node:process";
import { Keeper } from "./keep.ts";
import { withConnect, withOfficial } from "./our-side.ts";
import { peers, skippedAs } from "./peers.ts";
import type { Peer } from "./peers.ts";
import { printed, started } from "./programs.ts";
import type { Command } from "./programs.ts";
import { ofWithTasks, toParley, toPeer } from "./peer-errands.ts";
import type { Errand, Outcome } from "./peer-errands.ts";
import { record } from "./recorder.ts";
import { writeTable } from "./table.ts";
import { tidyWith } from "./tidy.ts";
import { lenientOf } from "./transcript.ts";
import type { Direction, Transcript, Verdict } from "./transcript.ts";
import { isOfTutorial, serverFor } from "./tutorial.ts";
import { spoken, verdictOf } from "./verdict.ts";

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface Session {
  readonly peer: Peer;
  readonly keeper: Keeper;
}

type Run = (url: string, errand: Errand) => Promise<Outcome>;

/** Does one errand through a recorder, and keeps what passed. */
async function kept(
  { peer, keeper }: Session,
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
  const { passed, told } = tidyWith(recorder.passed, outcome);
  const transcript: Transcript = {
    notice: `Made by "npm run interop -- ${peer.name}" with ${peer.name} ${peer.version}${peer.built ?? ""}. Do not edit it.`,
    peer: peer.name,
    version: peer.version,
    direction,
    capability: keptAs,
    errand: job.errand,
    outcome: told,
    verdict,
    passed,
  };
  say(`${verdict}, ${keeper.keep(transcript)}: ${direction} ${keptAs}`);
  if (verdict === "fails") say(`  ${JSON.stringify(outcome)}`);
  return verdict;
}

/** Lets their client do an errand with our server. If a task cannot be followed, the server tries to be lenient. */
async function toOurs(session: Session, capability: string, isLenient = false): Promise<void> {
  const name = isLenient ? lenientOf(capability) : capability;
  const app = serverFor(name);
  const { url } = await app.listen(0);
  const run: Run = async (place, errand) =>
    JSON.parse(await printed(programs(session.peer, errand).client, place, JSON.stringify(errand)));
  const verdict = await kept(session, "to-parley", capability, url, run, name);
  await app.close();
  const isTask = toParley[capability]?.errand.task !== undefined;
  if (verdict === "fails" && isTask && !isLenient) await toOurs(session, capability, true);
}

/** The programs of a peer that speak the version of the errand. */
const programs = (peer: Peer, { era }: Errand) =>
  era === "2025-11-25" ? (peer.legacy ?? peer) : peer;

async function interop(peer: Peer): Promise<void> {
  peer.install();
  const session = { peer, keeper: new Keeper(peer.name) };
  const isRun = (capability: string) => peer.tutorial !== undefined || !isOfTutorial(capability);
  for (const capability of Object.keys(toParley).filter(isRun)) await toOurs(session, capability);
  const clients = [
    ["connect", withConnect, Object.keys(toPeer).filter(isRun)],
    ["with-tasks", withOfficial, ofWithTasks.filter(isRun)],
  ] as const;
  for (const [direction, run, capabilities] of clients) {
    for (const program of new Set(capabilities.map((name) => serverOf(peer, name)))) {
      const server = await started(program);
      for (const name of capabilities) {
        if (serverOf(peer, name) === program) await kept(session, direction, name, server.url, run);
      }
      server.stop();
    }
  }
  session.keeper.removeOthers();
}

/** The server of a peer that an errand of ours goes to. */
function serverOf(peer: Peer, capability: string): Command {
  if (isOfTutorial(capability)) return peer.tutorial ?? peer.server;
  return programs(peer, toPeer[capability]?.errand ?? {}).server;
}

const names = process.argv.slice(2);
const unknown = names.find((name) => peers.every((peer) => peer.name !== name));
if (unknown !== undefined) {
  const known = peers.map(({ name }) => name).join(", ");
  process.stderr.write(`There is no peer "${unknown}". The peers are: ${known}.\n`);
  process.exit(2);
}
for (const peer of peers) {
  if (names.length > 0 && !names.includes(peer.name)) continue;
  const skipped = skippedAs(peer);
  if (skipped !== undefined) {
    say(skipped);
    continue;
  }
  say(`${peer.name} ${peer.version}`);
  try {
    await interop(peer);
  } catch (error) {
    // The other peers can still be run.
    stopped(`${peer.name} could not be run to its end`, error);
  }
}
try {
  writeTable();
} catch (error) {
  stopped("docs/interop.md was not written", error);
}

function stopped(what: string, error: unknown): void {
  process.stderr.write(`${what}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
