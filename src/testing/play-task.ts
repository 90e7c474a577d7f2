// Plays a task to its end: runs it whenever it is due and answers its questions from the script.

import type { InputRequest } from "../protocol/input-required.ts";
import type { WireResult } from "../server/define/definition.ts";
import type { TaskSnapshot } from "../tasks/snapshot.ts";
import { isLive } from "../tasks/task.ts";
import { shownIn } from "../server/approvals/decide.ts";
import {
  askedQuestion,
  decidedFor,
  externalValue,
  noTimeLimit,
  responseTo,
  scriptedFor,
  timedOut,
} from "./script.ts";
import type { AskedQuestion, Script } from "./script.ts";
import type { ServedRound, InProcessServer } from "./in-process-server.ts";
import type { Crash } from "./watched-bodies.ts";
import { resultOfTask } from "./in-process-tasks.ts";

/** What happens while a task is played. */
export interface TaskEvents {
  readonly onRun?: (run: Omit<ServedRound, "response">) => void;
  readonly onStatus?: (status: TaskSnapshot["status"]) => void;
  /** The task has asked something, or has ended. */
  readonly onRest?: () => Promise<void>;
  readonly onAnswer?: (question: AskedQuestion, response: unknown) => void;
  /** Where the process is killed in this run. Runs are counted from 1. */
  readonly crashIn?: (run: number) => Crash | undefined;
  /** Undoes what is to be undone. Called when the task has ended. */
  readonly onEnd?: () => Promise<void>;
}

const mostRuns = 10_000;

/** Plays the task and returns its result. */
export async function playTask(
  server: InProcessServer,
  id: string,
  script: Script,
  { onRun, onStatus, onRest, onAnswer, crashIn, onEnd }: TaskEvents = {},
): Promise<WireResult> {
  /** Why the last delivery was refused, by key. */
  const refusals = new Map<string, string>();
  /** The questions that are not answered in time. */
  const silent = new Set<string>();
  const runOnce = async (run: number) => onRun?.(await server.runTask(id, crashIn?.(run)));
  for (let run = 1; run <= mostRuns;) {
    const task = await server.tasks.read(id);
    onStatus?.(task.status);
    if (task.status !== "working") await onRest?.();
    if (!isLive(task)) {
      await onEnd?.();
      return resultOfTask(task);
    }
    const parked = await server.tasks.parked(id);
    if (parked === undefined) {
      await runOnce(run);
      run += 1;
      continue;
    }
    const answers = new Map<string, object>();
    let deliveries = 0;
    let unanswered: string | undefined;
    const ignore = (question: AskedQuestion) => {
      unanswered = question.key;
      if (!silent.has(question.key)) onAnswer?.(question, timedOut);
      silent.add(question.key);
    };
    for (const [wire, request] of parked.questions) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine has sealed it
      const shown = request as unknown as InputRequest;
      const question = askedQuestion(keyOf(wire), shown, run, server.audit);
      const scripted = await scriptedFor(question, script);
      if (scripted === timedOut) {
        ignore(question);
        continue;
      }
      const response = responseTo(question, shown, scripted);
      onAnswer?.(question, response);
      answers.set(wire, response);
    }
    if (answers.size > 0) await server.tasks.answer(id, answers);
    for (const key of parked.external) {
      const question: AskedQuestion = {
        key,
        kind: "external",
        via: "delivery",
        message: waitsFor(refusals.get(key)),
        round: run,
      };
      const scripted = await scriptedFor(question, script);
      if (scripted === timedOut) {
        ignore(question);
        continue;
      }
      const value = externalValue(question, scripted);
      deliveries += 1;
      onAnswer?.(question, value);
      const reason = await server.tasks.deliver(id, key, value);
      if (reason !== undefined) refusals.set(key, reason);
    }
    for (const approval of parked.approvals) {
      const { message, about } = shownIn(approval);
      const told = about === undefined ? {} : { about };
      const { key } = approval;
      const question: AskedQuestion = { key, kind: "approval", message, round: run, ...told };
      const scripted = await scriptedFor(question, script);
      if (scripted === timedOut) {
        ignore(question);
        continue;
      }
      const { who, isApproved, note } = decidedFor(question, scripted, approval.task.principal);
      deliveries += 1;
      onAnswer?.(question, { who, isApproved, note });
      const before = approval.decisions.length;
      for (const person of who) await server.tasks.decide(approval, person, isApproved, note);
      if (isApproved && before + who.length < (shownIn(approval).approval?.of ?? 1)) {
        throw tooFew(question, who.length, shownIn(approval).approval?.of ?? 1);
      }
    }
    if (unanswered === undefined || answers.size + deliveries > 0) continue;
    // Nothing happens until the time is up.
    if (!parked.hasTimeLimit) throw noTimeLimit(unanswered);
    await runOnce(run);
    run += 1;
  }
  throw new Error(`The task has not finished after ${mostRuns} runs.`);
}

const tooFew = ({ key }: AskedQuestion, got: number, of: number) =>
  new Error(
    `The script lets ${got} approve "${key}", and ${of} must. Name ${of} people: approvedBy("bo", "cy").`,
  );

const waitsFor = (reason: string | undefined) =>
  reason === undefined
    ? "Waits for a delivery"
    : `Waits for a delivery. The last value did not fit: ${reason}`;

/** The key in the handler. On the wire, a number follows it if the question is asked again. */
const keyOf = (wire: string) => wire.replace(/~\d+$/, "");
