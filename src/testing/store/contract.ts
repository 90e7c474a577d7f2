// The contract that every task store keeps, as a list of cases for any test runner.

import { describeAccounts } from "./accounts.ts";
import { describeAdditions } from "./additions.ts";
import { describeAnswers } from "./answers.ts";
import { describeAudit } from "./auditing.ts";
import { collected, Skipped } from "./cases.ts";
import { Unexpected } from "./expect.ts";
import { describeHistory } from "./history.ts";
import { describeApprovals } from "./approvals.ts";
import { describeLeases } from "./leases.ts";
import { followsModel } from "./model.ts";
import { startsAt } from "./opened.ts";
import type { OpenedStore, OpenStore } from "./opened.ts";
import { describeRaces } from "./races.ts";
import { describeRounds } from "./rounds.ts";
import { describeShares } from "./shares.ts";
import { describeStreams } from "./streams.ts";
import { describeSweeping } from "./sweeping.ts";
import { describeTasks } from "./tasks.ts";
import { describeTexts } from "./texts.ts";
import { describeUndoing } from "./undoing.ts";
import { describeWrites } from "./writes.ts";

/** One case of the contract. */
export interface StoreCase {
  /** What the store has to do, such as "claim: hands out only tasks of the wanted tools". */
  readonly name: string;
  /**
   * Opens a store, tries it and closes it. Rejects if the store does something else. Test runners pass a context: if it has
   * `skip`, the case calls it when the store leaves out what the case is about.
   */
  readonly run: () => Promise<void>;
}

const groups: readonly ((opened: () => OpenedStore) => void)[] = [
  describeTasks,
  describeAnswers,
  describeApprovals,
  describeLeases,
  describeWrites,
  describeAdditions,
  describeSweeping,
  describeUndoing,
  describeStreams,
  describeShares,
  describeHistory,
  describeRounds,
  describeAccounts,
  describeTexts,
  describeRaces,
  describeAudit,
];

/**
 * The cases that a task store has to pass: every operation, two replicas on the same data, unusual texts, and random
 * sequences of operations that are compared with `memoryStore`. It is a list, so that any test runner can run it, inside a
 * Worker too. Each case opens and closes its own store.
 *
 * Needs the package `fast-check`. Set the environment variable `PARLEY_PROPERTY_RUNS` to change how many random sequences are
 * tried. Default: 60.
 *
 * @param open - Opens an empty store. It is called once for each case, and once for each random sequence.
 * @example
 * ```ts
 * import { storeContract } from "mcp-parley/testing/store";
 * import { test } from "vitest";
 * import { MyDatabase, MyStore } from "./my-store.ts";
 *
 * const contract = storeContract(async ({ startsAt }) => {
 *   let now = startsAt;
 *   const database = new MyDatabase();
 *   const open = () => new MyStore(database, { now: () => now });
 *   return {
 *     store: open(),
 *     another: async () => open(),
 *     advance: async (ms) => void (now += ms),
 *     close: () => database.close(),
 *   };
 * });
 * for (const { name, run } of contract) test(name, run, 300_000);
 * ```
 */
export function storeContract(open: OpenStore): readonly StoreCase[] {
  const cases = groups.flatMap((group) =>
    // Defined once for the names, and once more for each run, so that cases can run side by side.
    collected(() => group(notYet)).map(({ name }, index) =>
      caseOf(name, async (skip) => {
        const opened = await open({ startsAt });
        try {
          await collected(() => group(() => opened))[index]?.body({ skip });
        } finally {
          await opened.close();
        }
      }),
    ),
  );
  const model = "any sequence of operations has the same effect on the store as on the model";
  return [...cases, caseOf(model, () => followsModel(open))];
}

function caseOf(name: string, tried: (skip: (why?: string) => never) => Promise<void>): StoreCase {
  const skip = (why?: string): never => {
    throw new Skipped(why ?? "This store leaves out what the case is about.");
  };
  const run = async (context?: unknown): Promise<void> => {
    try {
      await tried(skip);
    } catch (error) {
      if (error instanceof Skipped) return tell(context, error.message);
      if (!(error instanceof Unexpected)) throw error;
      error.message = `The store does not keep the contract. "${name}": ${error.message}`;
      throw error;
    }
  };
  return { name, run };
}

/** Tells vitest, node:test and others that the case was skipped. */
function tell(context: unknown, why: string): void {
  // The context of vitest is a function.
  const isObject = typeof context === "object" || typeof context === "function";
  const isContext = isObject && context !== null && "skip" in context;
  if (isContext && typeof context.skip === "function") context.skip(why);
}

const notYet = (): never => {
  throw new Error("A case opens its store when it runs.");
};
