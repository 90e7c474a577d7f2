// Handlers for property tests. They are generated as data and run by one interpreter, so that a failure prints the program
// that caused it.

import fc from "fast-check";
import type { Operations } from "./operations.ts";
import type { Json } from "../util/json.ts";
import { plain } from "./rounds.fixture.ts";

export type Program =
  | { readonly do: "ask"; readonly key: string; readonly wording: number }
  | { readonly do: "step"; readonly key: string; readonly turns: number; readonly fails: boolean }
  | { readonly do: "sleep"; readonly key: string }
  | { readonly do: "hop"; readonly times: number }
  | { readonly do: "throw" }
  | { readonly do: "checkpoint" }
  | { readonly do: "catch"; readonly parts: readonly [Program] }
  /** A part that an author has added, or one that the author has removed, while calls were under way. */
  | {
      readonly do: "patched";
      readonly key: string;
      readonly isAdded: boolean;
      readonly parts: readonly [Program];
    }
  | { readonly do: Joined; readonly parts: readonly Program[] };

type Joined = "seq" | "all" | "race" | "any" | "allSettled";

export const answerTo = (key: string): string => `answer to ${key}`;
const resultOf = (key: string): string => `result of ${key}`;

/** Programs whose keys come from their position, so that each key is used once. */
export function programs(
  joined: readonly Joined[],
  { isPatched = false }: { isPatched?: boolean } = {},
): fc.Arbitrary<Program> {
  const leaf = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("ask" as const),
        key: fc.constant(""),
        wording: fc.constant(0),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant("step" as const),
        key: fc.constant(""),
        turns: fc.nat(3),
        fails: fc.boolean(),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("sleep" as const), key: fc.constant("") }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("hop" as const), times: fc.nat(4) }) },
    { weight: 1, arbitrary: fc.constant({ do: "throw" as const }) },
    { weight: 1, arbitrary: fc.constant({ do: "checkpoint" as const }) },
  );
  const { program } = fc.letrec<{ program: Program }>((tie) => ({
    program: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      leaf,
      fc.record({ do: fc.constant("catch" as const), parts: fc.tuple(tie("program")) }),
      ...(isPatched
        ? [
            fc.record({
              do: fc.constant("patched" as const),
              key: fc.constant(""),
              isAdded: fc.boolean(),
              parts: fc.tuple(tie("program")),
            }),
          ]
        : []),
      fc.record({
        do: fc.constantFrom(...joined),
        parts: fc.array(tie("program"), { minLength: 1, maxLength: 4 }),
      }),
    ),
  }));
  return program.map((made) => withKeys(made, "k"));
}

function withKeys(program: Program, path: string): Program {
  switch (program.do) {
    case "ask":
    case "step":
    case "sleep":
      return { ...program, key: path };
    case "catch":
      return { ...program, parts: [withKeys(program.parts[0], `${path}c`)] };
    case "seq":
    case "all":
    case "race":
    case "any":
    case "allSettled":
      return {
        ...program,
        parts: program.parts.map((part, index) => withKeys(part, `${path}${index}`)),
      };
    case "patched":
      return { ...program, key: path, parts: [withKeys(program.parts[0], `${path}p`)] };
    case "hop":
    case "throw":
    case "checkpoint":
      return program;
  }
}

/** The program as it was before the author changed it. */
export function unpatched(program: Program): Program {
  if (!("parts" in program)) return program;
  if (program.do === "patched") {
    return program.isAdded ? { do: "hop", times: 0 } : unpatched(program.parts[0]);
  }
  if (program.do === "catch") return { ...program, parts: [unpatched(program.parts[0])] };
  return { ...program, parts: program.parts.map(unpatched) };
}

/** The largest number of times that a program can suspend. */
export function suspensions(program: Program): number {
  switch (program.do) {
    case "ask":
    case "sleep":
    case "checkpoint":
      return 1;
    case "step":
    case "hop":
    case "throw":
      return 0;
    case "catch":
    case "patched":
    case "seq":
    case "all":
    case "race":
    case "any":
    case "allSettled":
      return program.parts.reduce((sum: number, part) => sum + suspensions(part), 0);
  }
}

/** A value arrived under the wrong key. No program catches this error. */
class MixUp extends Error {
  constructor(key: string, value: unknown) {
    super(`"${key}" was given ${JSON.stringify(value)}`);
    this.name = "MixUp";
  }
}

/** A caught error does not name its branch, because which of two branches fails first depends on timing. */
function failure(error: unknown): string {
  if (error instanceof MixUp) throw error;
  return "failed";
}

export interface Observer {
  /** A step's body was executed. */
  readonly ran: (key: string) => void;
  /** An operation was settled, as seen by the code that awaits it. */
  readonly settled: (key: string) => void;
  /** A `patched` was decided. */
  readonly decided?: (key: string, isPatched: boolean) => void;
  /** The name of the undo of every step. Undefined if steps have no undo. */
  readonly undo?: string;
}

const immediate = () => new Promise<void>((resolve) => setImmediate(resolve));

export async function perform(program: Program, ops: Operations, see: Observer): Promise<Json> {
  switch (program.do) {
    case "ask": {
      const { key, wording } = program;
      const value = await ops.ask(key, plain(`${key} v${wording}`)).finally(() => see.settled(key));
      if (value !== answerTo(key)) throw new MixUp(key, value);
      return value;
    }
    case "step": {
      const { key, turns, fails } = program;
      const value = await ops
        .step(
          key,
          async () => {
            see.ran(key);
            for (let turn = 0; turn < turns; turn += 1) await immediate();
            if (fails) throw new Error(resultOf(key));
            return resultOf(key);
          },
          { undo: see.undo },
        )
        .finally(() => see.settled(key));
      if (value !== resultOf(key)) throw new MixUp(key, value);
      return value;
    }
    case "sleep":
      await ops.sleep(program.key, 1).finally(() => see.settled(program.key));
      return "slept";
    case "hop":
      for (let hop = 0; hop < program.times; hop += 1) await null;
      return "hopped";
    case "checkpoint":
      await ops.checkpoint();
      return "checked";
    case "patched": {
      const isPatched = await ops.patched(program.key);
      see.decided?.(program.key, isPatched);
      return isPatched === program.isAdded ? perform(program.parts[0], ops, see) : "left out";
    }
    case "throw":
      throw new Error("thrown");
    case "catch":
      try {
        return await perform(program.parts[0], ops, see);
      } catch (error) {
        return failure(error);
      }
    case "seq": {
      const values: Json[] = [];
      for (const part of program.parts) values.push(await perform(part, ops, see));
      return values;
    }
    case "all":
      return Promise.all(program.parts.map((part) => perform(part, ops, see)));
    case "race":
      return Promise.race(program.parts.map((part) => perform(part, ops, see)));
    case "any":
      return Promise.any(program.parts.map((part) => perform(part, ops, see)));
    case "allSettled": {
      const settled = await Promise.allSettled(
        program.parts.map((part) => perform(part, ops, see)),
      );
      return settled.map((one) => (one.status === "fulfilled" ? one.value : failure(one.reason)));
    }
  }
}

/** What a handler would return if every answer were there at once. It has no races, because their winner depends on timing. */
export async function direct(program: Program): Promise<Json> {
  const at = (ms: unknown) => Promise.resolve(ms);
  const ops: Operations = {
    // Only what a native promise has is used.
    ask: ((key: string) => at(answerTo(key))) as unknown as Operations["ask"],
    step: async (_key, body) => {
      try {
        return await body({ idempotencyKey: "", attempt: 1, signal: new AbortController().signal });
      } catch (error) {
        throw new Error(error instanceof Error ? error.message : "?", { cause: error });
      }
    },
    aside: () => at(undefined),
    sleep: () => at(undefined),
    background: () => at(undefined),
    checkpoint: () => at(undefined),
    patched: () => Promise.resolve(true),
    isLive: () => true,
    journal: () => ({ entries: [], out: [] }),
    signal: () => new AbortController().signal,
    onRunEnd: () => {},
    refuse: (_key, mistake) => {
      throw mistake;
    },
  };
  return perform(program, ops, { ran: () => {}, settled: () => {} });
}
