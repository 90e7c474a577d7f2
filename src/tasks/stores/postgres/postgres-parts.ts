// The parts of running streams in Postgres. The streams of a process are written and read at the same moments, so what
// is asked for within one turn of the event loop goes to the database as one statement.

import type { PartPage, PartPlace, StoredPart } from "../../stored-parts.ts";
import type { ClaimRef, Sealed } from "../../task.ts";
import type { Wide } from "../columns.ts";
import type { PostgresDatabase } from "./database.ts";
import type { PartStatement } from "./part-statements.ts";

/** How many tasks one statement concerns. */
const mostAtOnce = 32;

interface Addition {
  readonly ref: ClaimRef;
  readonly parts: readonly StoredPart[];
}

interface Place extends PartPlace {
  readonly id: string;
}

type Row = {
  readonly place: number;
  readonly epoch: number;
  readonly log_length: number;
  readonly revision: Wide;
  readonly n: number | null;
  readonly key: string;
  readonly record: Sealed;
};

/** Writes and reads the parts of many tasks. */
export class PostgresParts {
  readonly #database: Pick<PostgresDatabase<PartStatement>, "run">;

  constructor(database: Pick<PostgresDatabase<PartStatement>, "run">) {
    this.#database = database;
  }

  /** Whether the claim still holds, so that the parts are written. */
  readonly add: (addition: Addition) => Promise<boolean> = gathered(
    async (all: readonly Addition[]) => {
      const rows = all.flatMap(({ ref, parts }) => parts.map((part) => ({ ...ref, ...part })));
      const columns = [
        rows.map(({ id }) => id),
        rows.map(({ epoch }) => epoch),
        rows.map(({ key }) => key),
        rows.map(({ n }) => n),
        rows.map(({ record }) => record),
      ];
      const claims = [all.map(({ ref }) => ref.id), all.map(({ ref }) => ref.epoch)];
      const held = await this.#database.run<ClaimRef>("addParts", [...claims, ...columns]);
      return ({ ref }: Addition) =>
        held.some(({ id, epoch }) => id === ref.id && epoch === ref.epoch);
    },
  );

  /** The parts after a place. */
  readonly read: (place: Place) => Promise<PartPage | undefined> = gathered(
    async (places: readonly Place[]) => {
      const rows = await this.#database.run<Row>("readParts", [
        places.map(({ id }) => id),
        places.map(({ epoch }) => epoch),
        places.map(({ n }) => n),
      ]);
      return (_: Place, index: number) => pageOf(rows.filter(({ place }) => place === index + 1));
    },
  );
}

function pageOf(rows: readonly Row[]): PartPage | undefined {
  const [head] = rows;
  if (head === undefined) return undefined;
  return {
    epoch: head.epoch,
    logLength: head.log_length,
    revision: Number(head.revision),
    parts: rows.flatMap(({ n, key, record }) => (n === null ? [] : [{ n, key, record }])),
  };
}

/** Makes one call of the calls of a turn. It resolves to a function that has the result for each of them. */
function gathered<In, Out>(
  work: (all: readonly In[]) => Promise<(one: In, index: number) => Out>,
): (one: In) => Promise<Out> {
  type Call = { readonly one: In; readonly done: (out: Promise<Out>) => void };
  let calls: Call[] = [];
  const start = () => {
    const group = calls.splice(0, mostAtOnce);
    if (calls.length > 0) setImmediate(start);
    const working = work(group.map(({ one }) => one));
    for (const [index, { one, done }] of group.entries()) {
      done(working.then((outOf) => outOf(one, index)));
    }
  };
  return (one) =>
    new Promise((done) => {
      if (calls.length === 0) setImmediate(start);
      calls.push({ one, done });
    });
}
