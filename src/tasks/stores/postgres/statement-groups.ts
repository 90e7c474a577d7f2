// Operations of many tasks in one statement. What is ready in the same turn of the event loop, or while a statement of the same
// kind is under way, shares the next one: one message, one plan, one commit. A statement of its own costs several times as
// much as one more row of a group.
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
  /** How many groups are under way that still hold up the next one. */
  underWay: number;
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
    const line: Line = { waiting: [], isScheduled: false, underWay: 0 };
    this.#lines.set(name, line);
    return line;
  }

  #schedule(name: Name, line: Line): void {
    if (line.isScheduled || line.underWay > 0 || line.waiting.length === 0) return;
    line.isScheduled = true;
    setImmediate(() => {
      line.isScheduled = false;
      void this.#send(name, line);
    });
  }

  async #send(name: Name, line: Line): Promise<void> {
    const group = taken(line);
    line.underWay += 1;
    let isCounted = true;
    const letNext = () => {
      if (isCounted) line.underWay -= 1;
      isCounted = false;
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

/** The next group. An operation on a task that is in it already comes later, because it has to see what the first one did. */
function taken(line: Line): readonly Waiting[] {
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  const ids = new Set<string>();
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
  return group;
}

const jsonOf = (group: readonly Waiting[]): string =>
  `[${group.map(({ json }, n) => `{"one":1,"n":${n},${json}`).join(",")}]`;
