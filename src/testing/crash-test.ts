// Plays a call again for every point at which a round can be lost, repeated, doubled or delayed, and tells
// which bodies ran more than once.

import { isDeepStrictEqual } from "node:util";
import { registeredAs } from "../server/app.ts";
import type { WireResult } from "../server/define/definition.ts";
import { answer, requiredOf, resultOf } from "./play.ts";
import type { ArgsOf, Handler, PlayOptions } from "./play.ts";
import { playTask } from "./play-task.ts";
import type { Script } from "./script.ts";
import { Table } from "./table.ts";
import type { Death, Execution, Leg, Served } from "./table.ts";

export interface CrashTestOptions extends PlayOptions {
  /** Called before each play: set what the handler touches back to how it was. */
  readonly reset?: (() => void | Promise<void>) | undefined;
  /** Steps whose body may run again under a new idempotency key, because that does no harm: it only reads. */
  readonly mayRepeat?: readonly string[] | undefined;
}

export interface CrashTestReport {
  readonly plays: number;
  /** Bodies that ran more than once, under the same idempotency key. */
  readonly repeats: readonly Repeat[];
}

export interface Repeat {
  readonly step: string;
  /** What had happened. */
  readonly when: string;
  readonly times: number;
  /** "same": the service that is given the key can tell. "new": nobody can. */
  readonly key: "same" | "new";
  /** Whether the body looked at its idempotency key. */
  readonly usesKey: boolean;
}

/** Rejects with a table of what went wrong: another result, an error, or a body that ran again under a new key. */
export async function crashTest<H extends Handler>(
  handler: H,
  args: ArgsOf<H>,
  script: Script = {},
  options: CrashTestOptions = {},
): Promise<CrashTestReport> {
  const { core, definition } = registeredAs(handler);
  const start = async () => {
    await options.reset?.();
    return new Game(new Table(core, definition, args, options), script);
  };
  const model = await start();
  const expected = await model.finish();
  const repeats: Repeat[] = [];
  const problems: string[] = [];
  const mishaps = [...allMishaps(model.rounds), ...taskDeaths(model.taskRuns)];
  for (const mishap of mishaps) {
    const game = await start();
    try {
      const result = await mishap.play(game);
      if (result !== undefined && !isDeepStrictEqual(result, expected)) {
        problems.push(`${mishap.when}: ended differently: ${JSON.stringify(result)}`);
      }
    } catch (error) {
      problems.push(`${mishap.when}: ${error instanceof Error ? error.message : String(error)}`);
    }
    repeats.push(...game.repeats(mishap.when));
  }
  const isFine = ({ key, step }: Repeat) =>
    key === "same" || options.mayRepeat?.includes(step) === true;
  problems.push(...repeats.filter((repeat) => !isFine(repeat)).map(inWords));
  if (problems.length > 0) throw new CrashTestFailure(definition.name, mishaps.length, problems);
  return { plays: mishaps.length + 1, repeats: repeats.filter(({ key }) => key === "same") };
}

class CrashTestFailure extends Error {
  constructor(name: string, plays: number, problems: readonly string[]) {
    super(
      `"${name}" does not survive ${problems.length} of ${plays} mishaps:\n` +
        problems.map((problem) => `  ${problem}`).join("\n"),
    );
    this.name = "CrashTestFailure";
  }
}

function inWords({ step, when, times, key }: Repeat): string {
  return (
    `${when}: step "${step}" ran ${times} times, again under ${key === "new" ? "a new" : "the same"} idempotency key.` +
    (key === "new" ? " Ask before it, or list it in mayRepeat if it only reads." : "")
  );
}

// ---------------------------------------------------------------- one play

interface Round {
  readonly leg: Leg;
  readonly executions: number;
}

class Game {
  readonly table: Table;
  readonly rounds: Round[] = [];
  /** How many bodies each run of the task has executed. */
  readonly taskRuns: number[] = [];
  deathInTask: { readonly run: number; readonly death: Death } | undefined;
  readonly #script: Script;
  readonly #executions: Execution[] = [];
  #next: Leg = {};

  constructor(table: Table, script: Script) {
    this.table = table;
    this.#script = script;
  }

  get next(): Leg {
    return this.#next;
  }

  async send(leg: Leg, death?: Death): Promise<Served> {
    const served = await this.table.send(leg, death);
    this.#executions.push(...served.executions);
    return served;
  }

  /** Takes an answer: the call goes on from there. */
  async take(served: Served): Promise<WireResult | undefined> {
    this.rounds.push({ leg: this.#next, executions: served.executions.length });
    if (served.answer.kind === "task") return this.#work(served.answer.task.id);
    const result = resultOf(served);
    if (result === undefined) {
      this.#next = await answer(requiredOf(served), this.rounds.length, this.#script);
    }
    return result;
  }

  async #work(id: string): Promise<WireResult> {
    this.taskRuns.length = 0;
    return playTask(this.table, id, this.#script, {
      deathIn: (run) => (run === this.deathInTask?.run ? this.deathInTask.death : undefined),
      onRun: ({ executions }) => {
        this.taskRuns.push(executions.length);
        this.#executions.push(...executions);
      },
    });
  }

  /** Plays on, until so many rounds are over or the call is. */
  async until(rounds: number): Promise<WireResult | undefined> {
    let result: WireResult | undefined;
    while (result === undefined && this.rounds.length < rounds) {
      result = await this.take(await this.send(this.#next));
    }
    return result;
  }

  async finish(): Promise<WireResult> {
    const result = await this.until(Number.POSITIVE_INFINITY);
    if (result === undefined) throw new Error("The call has no end.");
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
  /** Undefined where the call cannot end as usual. */
  readonly play: (game: Game) => Promise<WireResult | undefined>;
}

function allMishaps(rounds: readonly Round[]): Mishap[] {
  return rounds.flatMap(({ executions, leg }, index) => {
    const round = index + 1;
    return [
      lostResponse(round),
      ...deaths(round, executions),
      sentTwice(round),
      sentAgainLater(round, leg),
      ...(round === 1 ? [] : [answeredTooLate(round)]),
    ];
  });
}

function lostResponse(round: number): Mishap {
  return {
    when: `response ${round} lost`,
    play: async (game) => {
      await game.until(round - 1);
      await game.send(game.next);
      return game.finish();
    },
  };
}

function deaths(round: number, executions: number): Mishap[] {
  const mishaps: Mishap[] = [];
  for (let body = 1; body <= executions; body += 1) {
    for (const when of ["before", "after"] as const) {
      mishaps.push({
        when: `process killed ${when} body ${body} of round ${round}`,
        play: async (game) => {
          await game.until(round - 1);
          await game.send(game.next, { body, when });
          return game.finish();
        },
      });
    }
  }
  return mishaps;
}

/** A worker killed at each body of the task. */
function taskDeaths(runs: readonly number[]): Mishap[] {
  return runs.flatMap((executions, index) =>
    Array.from({ length: executions }, (_, place) => place + 1).flatMap((body) =>
      (["before", "after"] as const).map((when) => ({
        when: `worker killed ${when} body ${body} of run ${index + 1} of the task`,
        play: (game: Game) => {
          game.deathInTask = { run: index + 1, death: { body, when } };
          return game.finish();
        },
      })),
    ),
  );
}

function sentTwice(round: number): Mishap {
  return {
    when: `round ${round} sent twice at once`,
    play: async (game) => {
      await game.until(round - 1);
      const [, second] = await Promise.all([game.send(game.next), game.send(game.next)]);
      return (await game.take(second)) ?? game.finish();
    },
  };
}

function sentAgainLater(round: number, { requestState }: Leg): Mishap {
  const what = requestState === undefined ? "first request" : `token of round ${round}`;
  return {
    when: `${what} sent again after the end`,
    play: async (game) => {
      const result = await game.finish();
      await game.send(game.rounds[round - 1]?.leg ?? {});
      return result;
    },
  };
}

function answeredTooLate(round: number): Mishap {
  return {
    when: `answers of round ${round} sent after the token expired`,
    play: async (game) => {
      await game.until(round - 1);
      // Well over any time limit a question may have had.
      game.table.clock.skip(game.table.limits.tokenTtlMs + 10 * 365 * 24 * 3_600_000);
      const { answer: refusal, executions } = await game.send(game.next);
      if (refusal.kind !== "error" || executions.length > 0) {
        throw new Error("an expired token was taken");
      }
      return undefined;
    },
  };
}
