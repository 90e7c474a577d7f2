// Operations of many tasks in one statement. What is ready in the same turn of the event loop shares one, and so does what
// comes while several statements of the same kind are under way: one message, one plan, one commit. A statement of its own
// costs several times as much as one more row of a group.
//
// Each operation keeps its own condition, such as the epoch of its claim, and gets its own rows back. If a group fails because
// of one member, every member is tried alone. If it fails because the database does, all of them fail, as if each had been
// sent alone.

import { StoreUnavailableError } from "./errors.ts";

/** One operation, as the statement reads it: `members` in fragments.ts. */
export type Member = Readonly<Record<string, unknown>> & { readonly id: string };

/** What a row of a group needs, so that its member gets it. */
export interface GroupRow {
  readonly n: number;
}

/** Runs the statement of a group. */
export type RunGroup<Name> = (name: Name, members: string) => Promise<readonly GroupRow[]>;

/** How much one group may hold. A larger one would keep its rows locked for long. */
const most = { members: 64, bytes: 256 * 1024 };
/**
 * How many groups of a kind are under way before the next one waits. With one, operations that are ready together are split:
 * a first few would hold up all others, which then come in groups of a few as well.
 */
const underWayAtOnce = 4;
/** After this time, a group that is under way no longer holds up the next one. It may wait for a row that someone locked. */
const patienceMs = 20;

interface Waiting {
  readonly id: string;
  readonly json: string;
  readonly resolve: (rows: readonly GroupRow[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Line {
  waiting: Waiting[];
  isScheduled: boolean;
  /** The groups under way that still hold up others: any, if there are enough of them, and those on the same tasks. */
  readonly underWay: Set<readonly Waiting[]>;
}

/** The groups of one database. */
export class StatementGroups<Name extends string> {
  readonly #run: RunGroup<Name>;
  readonly #lines = new Map<Name, Line>();

  constructor(run: RunGroup<Name>) {
    this.#run = run;
  }

  /** Does one operation, together with others of its kind. Resolves to its rows. */
  readonly run = (name: Name, member: Member): Promise<readonly GroupRow[]> =>
    new Promise((resolve, reject) => {
      const line = this.#line(name);
      // Without the brackets, so that members can be joined as they are.
      const json = JSON.stringify(member).slice(1);
      line.waiting.push({ id: member.id, json, resolve, reject });
      this.#schedule(name, line);
    });

  #line(name: Name): Line {
    const known = this.#lines.get(name);
    if (known !== undefined) return known;
    const line: Line = { waiting: [], isScheduled: false, underWay: new Set() };
    this.#lines.set(name, line);
    return line;
  }

  #schedule(name: Name, line: Line): void {
    const isFull = line.underWay.size >= underWayAtOnce;
    if (line.isScheduled || isFull || line.waiting.length === 0) return;
    line.isScheduled = true;
    setImmediate(() => {
      line.isScheduled = false;
      void this.#send(name, line);
    });
  }

  async #send(name: Name, line: Line): Promise<void> {
    const group = taken(line);
    // All that waits is about tasks of a group under way, which schedules the next one.
    if (group.length === 0) return;
    line.underWay.add(group);
    this.#schedule(name, line);
    const letNext = () => {
      line.underWay.delete(group);
      this.#schedule(name, line);
    };
    const patience = setTimeout(letNext, patienceMs);
    await this.#settle(name, group);
    clearTimeout(patience);
    letNext();
  }

  async #settle(name: Name, group: readonly Waiting[]): Promise<void> {
    try {
      const rows = await this.#run(name, jsonOf(group));
      const byMember = group.map((): GroupRow[] => []);
      for (const row of rows) byMember[row.n]?.push(row);
      for (const [n, { resolve }] of group.entries()) resolve(byMember[n] ?? []);
    } catch (error) {
      const [first, ...others] = group;
      if (others.length === 0 || error instanceof StoreUnavailableError) {
        for (const { reject } of group) reject(error);
      } else if (first !== undefined) {
        await Promise.all(group.map((one) => this.#settle(name, [one])));
      }
    }
  }
}

/**
 * The next group, in the order of the ids. A statement locks the rows in this order, so that none of two waits for the other.
 * An operation on a task that is in it already, or in a group under way, comes later: it has to see what the first one did.
 */
function taken(line: Line): readonly Waiting[] {
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  const ids = new Set([...line.underWay].flatMap((other) => other.map(({ id }) => id)));
  let bytes = 0;
  for (const one of line.waiting) {
    const fits = group.length === 0 || bytes + one.json.length <= most.bytes;
    if (fits && group.length < most.members && !ids.has(one.id)) {
      group.push(one);
      ids.add(one.id);
      bytes += one.json.length;
    } else left.push(one);
  }
  line.waiting = left;
  return group.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

const jsonOf = (group: readonly Waiting[]): string =>
  `[${group.map(({ json }, n) => `{"one":1,"n":${n},${json}`).join(",")}]`;
