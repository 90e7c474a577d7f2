// The checks --tamper and --replay: whether a server refuses a changed state, and what it does when the same round
// arrives twice. Both work with references, because a call can be resumed from any state, even from a forged one.

import type { InputResponse } from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import type { Call, Connection, OpenQuestion } from "../../client/index.ts";
import type { Members } from "../../util/objects.ts";
import { referenceTo, stateOf } from "../../client/reference.ts";
import type { CallState } from "../../client/reference.ts";
import { exit } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { plainJson, plainLine } from "../screen/plain.ts";
import { askPerson } from "../prompts/person.ts";
import type { Session } from "./session.ts";
import { signs } from "../screen/style.ts";
import { legacyVersion } from "../../protocol/versions.ts";

/** Changes the state in several places, because a seal must cover all of it. */
export async function checkTampering(
  session: Session,
  tool: string,
  args: Members,
  io: Io,
): Promise<ExitCode> {
  const state = await firstRound(session, tool, args);
  const { requestState } = state;
  if (requestState === undefined)
    throw new Error("The server sent no requestState, so there is nothing to tamper with.");
  const findings: CheckResult[] = [];
  for (const [where, changed] of changes(requestState)) {
    const seen = await next(session.connection, { ...state, requestState: changed });
    findings.push({ what: `changed ${where}`, seen, isFine: seen.kind === "refused" });
  }
  const isFine = findings.every((finding) => finding.isFine);
  const verdict = isFine
    ? "The server refuses a changed state."
    : "The server accepts a changed state, so a client can forge what happened before.";
  return report("tamper", findings, isFine, verdict, session, io);
}

/** Sends the same round twice and compares the responses. */
export async function checkReplay(
  session: Session,
  tool: string,
  args: Members,
  io: Io,
): Promise<ExitCode> {
  const state = await firstRound(session, tool, args);
  const first = await next(session.connection, state);
  const second = await next(session.connection, state);
  const isSame = first.kind === second.kind && first.shown === second.shown;
  const isFine = isSame || second.kind === "refused";
  const findings = [
    { what: "first time", seen: first, isFine: true },
    { what: "second time", seen: second, isFine },
  ];
  const verdict = isSame
    ? "Both rounds have the same result. The server's log says whether a step ran twice."
    : second.kind === "refused"
      ? "The server accepts a round only once."
      : "The second round has another result, so the call is not safe to repeat.";
  return report("replay", findings, isFine, verdict, session, io);
}

/** The state after the first round that asks, with all its answers, before they are sent. */
async function firstRound(
  { connection, driver, timeoutMs }: Session,
  tool: string,
  args: Members,
): Promise<CallState> {
  if (connection.era === legacyVersion) {
    throw new Error("A 2025-11-25 session has no rounds to check.");
  }
  const call = connection.start(tool, { ...args }, { timeoutMs });
  for await (const event of call) {
    if (event.type !== "asked") continue;
    const state = stateOf(event.ref);
    if (state.taskId !== undefined) break;
    const answers = await answersTo(event.questions, driver);
    await call.cancel();
    return { ...state, answers };
  }
  throw new Error(`${plainLine(tool)} asks no question in a round, so there is nothing to check.`);
}

async function answersTo(
  questions: readonly OpenQuestion[],
  { given, isInteractive, printer, interrupt: signal }: Session["driver"],
): Promise<ReadonlyMap<string, InputResponse>> {
  const answers = new Map<string, InputResponse>();
  for (const question of questions) {
    const answer =
      given.for(question) ??
      (isInteractive
        ? await printer.quiet((say) => askPerson(question, { signal, say }))
        : undefined);
    if (answer === undefined) {
      throw new Error(`Pass an answer to "${plainLine(question.key)}" with --answer.`);
    }
    answers.set(question.key, answer);
  }
  return answers;
}

interface Seen {
  readonly kind: "refused" | "asks" | "task" | "done" | "failed";
  readonly shown: string;
}

interface CheckResult {
  readonly what: string;
  readonly seen: Seen;
  readonly isFine: boolean;
}

/** The result of this round, sent as a call of its own. */
async function next(connection: Connection, state: CallState): Promise<Seen> {
  const call = connection.resume(referenceTo({ ...state, id: crypto.randomUUID() }));
  try {
    return await firstSeen(call);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    const isRefused = error.code === "state_refused" || error.code === "refused";
    return { kind: isRefused ? "refused" : "failed", shown: error.message };
  } finally {
    await call.cancel().catch(() => {});
  }
}

async function firstSeen(call: Call): Promise<Seen> {
  for await (const event of call) {
    if (event.type === "asked") {
      return { kind: "asks", shown: event.questions.map(({ key }) => key).join(", ") };
    }
    if (event.type === "task") return { kind: "task", shown: event.taskId };
    if (event.type === "done") {
      const isError = event.result.isError === true;
      return { kind: isError ? "failed" : "done", shown: event.result.text };
    }
  }
  return { kind: "failed", shown: "no result" };
}

/** Not at the very end, where base64 has bits without a meaning. */
function* changes(state: string): Iterable<[string, string]> {
  const places = { "at its beginning": 0.05, "in the middle": 0.5, "near its end": 0.9 };
  for (const [where, share] of Object.entries(places)) {
    const index = Math.floor(state.length * share);
    const other = state[index] === "A" ? "B" : "A";
    yield [where, state.slice(0, index) + other + state.slice(index + 1)];
  }
  yield ["by leaving out its last third", state.slice(0, Math.ceil((state.length * 2) / 3))];
}

function report(
  check: "tamper" | "replay",
  findings: readonly CheckResult[],
  isFine: boolean,
  verdict: string,
  { isJson }: Session,
  { out }: Io,
): ExitCode {
  if (isJson) out(`${plainJson({ parley: 1, check, isFine, verdict, findings })}\n`);
  else {
    for (const { what, seen, isFine: isThisFine } of findings) {
      const sign = isThisFine ? signs.done : signs.failed;
      out(`${sign} ${what}: ${seen.kind} ${plainLine(seen.shown, 60)}`.trimEnd() + "\n");
    }
    out(`${verdict}\n`);
  }
  return isFine ? exit.done : exit.failed;
}
