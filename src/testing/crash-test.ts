// Plays a call again for every point where a round can be lost, repeated, doubled or delayed, and reports which bodies
// ran more than once.

import { isDeepStrictEqual } from "node:util";
import { registeredAs } from "../server/define/handles.ts";
import type { WireResult } from "../server/define/definition.ts";
import { requiredOf, resultOf, ScriptedAnswers } from "./play.ts";
import type { PlayArguments, Playable } from "./play.ts";
import { playTask } from "./play-task.ts";
import { checkEnd } from "./undisturbed-end.ts";
import type { Script } from "./script.ts";
import { InProcessServer } from "./in-process-server.ts";
import type { PlayOptions, RoundInput, ServedRound } from "./in-process-server.ts";
import { HeldStreams } from "./held-streams.ts";
import type { BodyExecution, Crash } from "./watched-bodies.ts";

/** How `crashTest` plays a call. */
export interface CrashTestOptions extends PlayOptions {
  /** Called before each play. Use it to restore everything that the handler changes. */
  readonly reset?: (() => void | Promise<void>) | undefined;
  /**
   * The keys of steps that may run again, because they only read: under a new idempotency key, or without using their key.
   * Default: none.
   */
  readonly mayRepeat?: readonly string[] | undefined;
  /** The call is meant to end with an error. Default: only if steps are undone. */
  readonly endsInError?: boolean | undefined;
}

/** What `crashTest` found in a handler that survives everything. */
export interface CrashTestReport {
  /** How many times the call was played. */
  readonly plays: number;
  /** The bodies that ran more than once under the same idempotency key, one entry for each mishap. */
  readonly repeats: readonly Repeat[];
}

/** A step whose body ran more than once in one call. */
export interface Repeat {
  /** The key of the step. */
  readonly step: string;
  /** The mishap after which it ran again, such as "response 2 lost". */
  readonly when: string;
  /** How many times it ran. */
  readonly times: number;
  /** "same" if the idempotency key was the same each time, so that a service can detect the repetition. */
  readonly key: "same" | "new";
  /**
   * Whether the body read its idempotency key each time. If not, no service can detect the repetition, so only steps in
   * `mayRepeat` are reported with false.
   */
  readonly usesKey: boolean;
}

/**
 * Plays a call once for every mishap that can happen to it: a response is lost, a process is killed before or after a step, a
 * request is sent twice or again later, an answer comes after the token expired. Rejects with a list of what went wrong: a
 * different result, an error, a step that ran again under a new idempotency key, or one that ran again and did not use
 * its key.
 *
 * @example
 * ```ts
 * const { repeats } = await crashTest(deploy, { service: "web" }, { confirm: true }, { reset: () => cluster.clear() });
 * expect(repeats.map(({ step }) => step)).toContain("deploy");
 * ```
 *
 * @param handler What `app.tool`, `app.prompt` or `app.resource` returned.
 * @param args The arguments, or the URI of a resource.
 * @param script The answers, by key or as a function. Not needed if the handler asks nothing.
 * @param options Who makes the call, and how to restore what it changes.
 */
export async function crashTest<H extends Playable>(
  handler: H,
  args: PlayArguments<H>,
  script: Script = {},
  options: CrashTestOptions = {},
): Promise<CrashTestReport> {
  const { core, definition } = registeredAs(handler);
  const start = async () => {
    await options.reset?.();
    return new Playthrough(new InProcessServer(core, definition, args, options), script);
  };
  const model = await start();
  const expected = await model.finish();
  checkEnd(definition.name, expected, options.endsInError, model.server.undone.length > 0);
  const repeats: Repeat[] = [];
  const problems: Problem[] = [];
  let advice = "";
  const mishaps = [
    ...allMishaps(model.rounds),
    ...taskCrashes(model.taskRuns),
    ...undoCrashes(model.server.undone.length),
  ];
  for (const mishap of mishaps) {
    const playthrough = await start();
    try {
      const result = await mishap.play(playthrough);
      if (result !== undefined && !isDeepStrictEqual(result, expected)) {
        const what = `the call ended differently: ${JSON.stringify(result)}`;
        problems.push({ when: mishap.when, what });
        advice = differing(expected);
      }
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      problems.push({ when: mishap.when, what });
    }
    repeats.push(...playthrough.repeats(mishap.when));
    for (const what of [
      ...playthrough.undoProblems(model),
      ...playthrough.streams.problems(model.streams),
    ]) {
      problems.push({ when: mishap.when, what });
    }
  }
  const isFine = ({ key, usesKey, step }: Repeat) =>
    (key === "same" && usesKey) || options.mayRepeat?.includes(step) === true;
  for (const repeat of repeats) {
    if (!isFine(repeat)) problems.push({ when: repeat.when, what: inWords(repeat) });
  }
  if (problems.length > 0) {
    throw new CrashTestError(definition.name, mishaps.length, problems, advice);
  }
  return { plays: mishaps.length + 1, repeats: repeats.filter(({ key }) => key === "same") };
}

/** Something that went wrong after a mishap. */
interface Problem {
  readonly when: string;
  readonly what: string;
}

/** What `crashTest` rejects with. The message lists every problem. */
class CrashTestError extends Error {
  constructor(name: string, plays: number, problems: readonly Problem[], advice: string) {
    // One mishap can repeat several steps.
    const mishaps = new Set(problems.map(({ when }) => when));
    super(
      `"${name}" does not survive ${mishaps.size} of ${plays} mishaps:\n` +
        problems.map(({ when, what }) => `  ${when}: ${what}`).join("\n") +
        advice,
    );
    this.name = "CrashTestError";
  }
}

const differing = (expected: unknown) =>
  `\nWithout a mishap, it ended with ${JSON.stringify(expected)}.\n` +
  "Each play is a call of its own, so a result that has a time, a random number, a count of what ran before, ctx.callId or " +
  "an idempotency key differs. Leave these out of the result, or use `reset` to restore what the handler counts.";

function inWords({ step, times, key }: Repeat): string {
  return key === "new"
    ? `step "${step}" ran ${times} times, under different idempotency keys. ` +
        "Ask a question before it, or add it to mayRepeat if it only reads."
    : `step "${step}" ran ${times} times without using its idempotency key, so no service can detect the repetition. ` +
        "Pass the key to the service that the step calls, or add the step to mayRepeat if it only reads.";
}

// ---------------------------------------------------------------- one play

interface PlayedRound {
  readonly input: RoundInput;
  readonly executions: number;
}

class Playthrough {
  readonly server: InProcessServer;
  /** What the client holds of the streams. */
  readonly streams = new HeldStreams();
  readonly rounds: PlayedRound[] = [];
  /** How many bodies each run of the task executed. */
  readonly taskRuns: number[] = [];
  #hasEnded = false;
  crashInTask: { readonly run: number; readonly crash: Crash } | undefined;
  readonly #script: Script;
  readonly #answers: ScriptedAnswers;
  readonly #executions: BodyExecution[] = [];
  #next: RoundInput = {};

  constructor(server: InProcessServer, script: Script) {
    this.server = server;
    this.#script = script;
    this.#answers = new ScriptedAnswers(server, script);
  }

  get next(): RoundInput {
    return this.#next;
  }

  async send(input: RoundInput, crash?: Crash): Promise<ServedRound> {
    const served = await this.server.send(input, crash);
    this.#executions.push(...served.executions);
    return served;
  }

  /** Continues the call from this response. */
  async take(served: ServedRound): Promise<WireResult | undefined> {
    this.rounds.push({ input: this.#next, executions: served.executions.length });
    this.streams.round(served);
    if (served.response.kind === "task") return this.#work(served.response.task.id);
    if (served.response.kind === "complete" || served.response.kind === "error") {
      await this.#undoAll();
    }
    const result = resultOf(served);
    if (result === undefined) {
      this.#next = await this.#answers.next(requiredOf(served), this.rounds.length);
    }
    return result;
  }

  async #work(id: string): Promise<WireResult> {
    this.taskRuns.length = 0;
    return playTask(this.server, id, this.#script, {
      onEnd: () => this.#undoAll(),
      crashIn: (run) => (run === this.crashInTask?.run ? this.crashInTask.crash : undefined),
      onRest: () => this.streams.read(this.server, id),
      onRun: (run) => {
        this.taskRuns.push(run.executions.length);
        this.#executions.push(...run.executions);
        this.streams.run(run);
      },
    });
  }

  async #undoAll(): Promise<void> {
    await this.server.undoAll();
    this.#hasEnded = true;
  }

  /** The undos that were lost, or repeated under another key, compared with a play without a mishap. */
  undoProblems(model: Playthrough): readonly string[] {
    if (!this.#hasEnded) return [];
    return [...new Set(model.server.undone.map(({ step }) => step))].flatMap((step) => {
      const keys = this.server.undone
        .filter((one) => one.step === step)
        .map(({ undoKey }) => undoKey);
      // A request that was sent twice at once may have made two calls, and each is undone.
      const begun = this.#executions.filter((one) => one.step === step);
      const calls = new Set(begun.map(({ idempotencyKey }) => idempotencyKey));
      if (keys.length === 0) return [`step "${step}" was not undone.`];
      if (new Set(keys).size <= Math.max(1, calls.size)) return [];
      return [`step "${step}" was undone ${keys.length} times, under different keys.`];
    });
  }

  /** Continues until this many rounds or the whole call are over. */
  async until(rounds: number): Promise<WireResult | undefined> {
    let result: WireResult | undefined;
    while (result === undefined && this.rounds.length < rounds) {
      result = await this.take(await this.send(this.#next));
    }
    return result;
  }

  async finish(): Promise<WireResult> {
    const result = await this.until(Number.POSITIVE_INFINITY);
    if (result === undefined) throw new Error("The call has not finished.");
    return result;
  }

  repeats(when: string): Repeat[] {
    return [...new Set(this.#executions.map(({ step }) => step))].flatMap((step) => {
      const executions = this.#executions.filter((execution) => execution.step === step);
      if (executions.length < 2) return [];
      const keys = new Set(executions.map(({ idempotencyKey }) => idempotencyKey));
      const usesKey = executions.every(({ usedKey }) => usedKey);
      return [
        { step, when, times: executions.length, key: keys.size === 1 ? "same" : "new", usesKey },
      ];
    });
  }
}

// ---------------------------------------------------------------- what can happen

interface Mishap {
  readonly when: string;
  /** The result. Undefined if the mishap ends the call. */
  readonly play: (playthrough: Playthrough) => Promise<WireResult | undefined>;
}

function allMishaps(rounds: readonly PlayedRound[]): Mishap[] {
  return rounds.flatMap(({ executions, input }, index) => {
    const round = index + 1;
    return [
      lostResponse(round),
      ...crashes(round, executions),
      sentTwice(round),
      sentAgainLater(round, input),
      ...(round === 1 ? [] : [answeredTooLate(round)]),
    ];
  });
}

function lostResponse(round: number): Mishap {
  return {
    when: `response ${round} lost`,
    play: async (playthrough) => {
      await playthrough.until(round - 1);
      await playthrough.send(playthrough.next);
      return playthrough.finish();
    },
  };
}

function crashes(round: number, executions: number): Mishap[] {
  const mishaps: Mishap[] = [];
  for (let body = 1; body <= executions; body += 1) {
    for (const when of ["before", "after"] as const) {
      mishaps.push({
        when: `process killed ${when} body ${body} of round ${round}`,
        play: async (playthrough) => {
          await playthrough.until(round - 1);
          await playthrough.send(playthrough.next, { body, when });
          return playthrough.finish();
        },
      });
    }
  }
  return mishaps;
}

/** Kills the worker at each body of the task. */
function taskCrashes(runs: readonly number[]): Mishap[] {
  return runs.flatMap((executions, index) =>
    Array.from({ length: executions }, (_, place) => place + 1).flatMap((body) =>
      (["before", "after"] as const).map((when) => ({
        when: `worker killed ${when} body ${body} of run ${index + 1} of the task`,
        play: (playthrough: Playthrough) => {
          playthrough.crashInTask = { run: index + 1, crash: { body, when } };
          return playthrough.finish();
        },
      })),
    ),
  );
}

/** Kills the worker at each undo. */
function undoCrashes(undos: number): Mishap[] {
  return Array.from({ length: undos }, (_, place) => place + 1).flatMap((body) =>
    (["before", "after"] as const).map((when) => ({
      when: `worker killed ${when} undo ${body}`,
      play: (playthrough: Playthrough) => {
        playthrough.server.crashInUndo = { body, when };
        return playthrough.finish();
      },
    })),
  );
}

function sentTwice(round: number): Mishap {
  return {
    when: `round ${round} sent twice at once`,
    play: async (playthrough) => {
      await playthrough.until(round - 1);
      const [, second] = await Promise.all([
        playthrough.send(playthrough.next),
        playthrough.send(playthrough.next),
      ]);
      return (await playthrough.take(second)) ?? playthrough.finish();
    },
  };
}

function sentAgainLater(round: number, { requestState }: RoundInput): Mishap {
  const what = requestState === undefined ? "first request" : `token of round ${round}`;
  return {
    when: `${what} sent again after the end`,
    play: async (playthrough) => {
      const result = await playthrough.finish();
      await playthrough.send(playthrough.rounds[round - 1]?.input ?? {});
      return result;
    },
  };
}

function answeredTooLate(round: number): Mishap {
  return {
    when: `answers of round ${round} sent after the token expired`,
    play: async (playthrough) => {
      await playthrough.until(round - 1);
      // Later than any time limit that a question can have.
      playthrough.server.clock.skip(
        playthrough.server.limits.tokenTtlMs + 10 * 365 * 24 * 3_600_000,
      );
      const { response: refusal, executions } = await playthrough.send(playthrough.next);
      if (refusal.kind !== "error" || executions.length > 0) {
        throw new Error("An expired token was accepted.");
      }
      return undefined;
    },
  };
}
