// What the handler of a task waits for, as the store shows it: the wire key, and the time limit.
//
// A task uses a wire key only once. A question that is asked again unchanged keeps its key. If its answer was not
// valid, or if its wording has changed, it gets the next key: `size`, `size~2`, `size~3`.

import type { Open } from "../../replay/outcome.ts";
import type { Sealed, TaskRecord, Wait } from "../task.ts";

interface Known {
  readonly wire: string;
  readonly digest: string | undefined;
  readonly dueAt: number | undefined;
  readonly request: Sealed | undefined;
  readonly page?: Sealed | undefined;
}

/** A wait as the client and its page see it. */
type ShownWait = Pick<Wait, "kind" | "request" | "page" | "needs" | "group">;

/** The waits of one run. */
export class Waits {
  /** What the store shows now. */
  list: readonly Wait[];
  /** For each question, how many wire keys it has had so far. */
  asked: Readonly<Record<string, number>>;
  readonly #known = new Map<string, Known>();
  /** Wire keys that have an answer, valid or not. */
  readonly #spent = new Set<string>();

  constructor({ waits, asked, inbox }: Pick<TaskRecord, "waits" | "asked" | "inbox">) {
    this.list = waits;
    this.asked = asked;
    // These questions have an answer now. If it turns out not to be valid, the question keeps its time limit.
    for (const { id, key, digest, dueAt } of inbox) {
      if (!isMadeUp(id)) this.#known.set(key, { wire: id, digest, dueAt, request: undefined });
    }
    for (const { wire, key, digest, dueAt, request, page } of waits) {
      this.#known.set(key, { wire, digest, dueAt, request, page });
    }
  }

  /** What the handler must ask for again before the run goes live (R5). */
  get out(): readonly { readonly key: string; readonly digest: string | undefined }[] {
    return [...this.#known].map(([key, { digest }]) => ({ key, digest }));
  }

  /** Marks answers as used up. If one of them was not valid, its question gets the next key. */
  spend(taken: readonly string[]): void {
    for (const wire of taken) this.#spent.add(wire);
  }

  /** Notes what the handler waits for now, and returns it as the store keeps it. */
  put(
    open: readonly Open[],
    now: number,
    show: (open: Open, wire: string) => ShownWait,
  ): readonly Wait[] {
    this.list = open.map((one) => this.#wait(one, now, show));
    return this.list;
  }

  #wait(open: Open, now: number, show: (open: Open, wire: string) => ShownWait): Wait {
    const { key, digest, ms } = open;
    const before = this.#known.get(key);
    const isSame = before !== undefined && before.digest === digest;
    // If the code no longer sets a time limit, there is none, even if an earlier version showed one.
    const kept = isSame ? before.dueAt : undefined;
    const dueAt = ms === undefined ? undefined : (kept ?? Math.ceil(now + ms));
    const isAgain = isSame && !this.#spent.has(before.wire);
    const wire = isAgain ? before.wire : this.#nextWire(key);
    const shown: ShownWait =
      isAgain && before.request !== undefined
        ? { kind: "question", request: before.request, page: before.page }
        : show(open, wire);
    const { kind, request, page, needs, group } = shown;
    this.#known.set(key, { wire, digest, dueAt, request, page });
    return {
      kind,
      key,
      wire,
      ...(digest === undefined ? {} : { digest }),
      ...(dueAt === undefined ? {} : { dueAt }),
      ...(request === undefined ? {} : { request }),
      ...(page === undefined ? {} : { page }),
      ...(needs === undefined ? {} : { needs }),
      ...(group === undefined ? {} : { group }),
    };
  }

  #nextWire(key: string): string {
    const times = (Object.hasOwn(this.asked, key) ? (this.asked[key] ?? 0) : 0) + 1;
    this.asked = { ...this.asked, [key]: times };
    return times === 1 ? key : `${key}~${times}`;
  }
}

/** The id of an answer that no wire key asked for: it came from rounds, came early, or came back by a cut. */
export const madeUp = (name: string): string => `~${name}`;

/** The key of a gate or of a tool's own approval starts with the same character, and has none of these names. */
const isMadeUp = (id: string) => /^~(?:early|round|cut)-/.test(id);
