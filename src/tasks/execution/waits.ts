// What a task's handler waits for, as it is put out: under which wire key, and until when.
//
// A wire key is used once in the life of a task. A question that is put again as it was keeps its key; one whose
// answer did not do, or whose wording has changed, gets the next: `size`, `size~2`, `size~3`.

import type { Open } from "../../replay/outcome.ts";
import type { Sealed, TaskRecord, Wait } from "../task.ts";

interface Known {
  readonly wire: string;
  readonly digest: string | undefined;
  readonly dueAt: number | undefined;
  readonly request: Sealed | undefined;
}

export class Waits {
  /** What is put out now. */
  list: readonly Wait[];
  asked: Readonly<Record<string, number>>;
  readonly #known = new Map<string, Known>();
  /** Answered, be it well or badly. */
  readonly #spent = new Set<string>();

  constructor({ waits, asked, inbox }: Pick<TaskRecord, "waits" | "asked" | "inbox">) {
    this.list = waits;
    this.asked = asked;
    // Answered since: should the answer not do, the question keeps its time limit.
    for (const { id, key, digest, dueAt } of inbox) {
      if (!isMadeUp(id)) this.#known.set(key, { wire: id, digest, dueAt, request: undefined });
    }
    for (const { wire, key, digest, dueAt, request } of waits) {
      this.#known.set(key, { wire, digest, dueAt, request });
    }
  }

  /** What the engine must hear of again before it goes live (R5). */
  get out(): readonly { readonly key: string; readonly digest: string | undefined }[] {
    return [...this.#known].map(([key, { digest }]) => ({ key, digest }));
  }

  /** These answers are used up: should one not have done, its question gets the next key. */
  spend(taken: readonly string[]): void {
    for (const wire of taken) this.#spent.add(wire);
  }

  put(
    open: readonly Open[],
    now: number,
    show: (open: Open, wire: string) => { readonly kind: Wait["kind"]; readonly request?: Sealed },
  ): readonly Wait[] {
    this.list = open.map((one) => this.#wait(one, now, show));
    return this.list;
  }

  #wait(
    open: Open,
    now: number,
    show: (open: Open, wire: string) => { readonly kind: Wait["kind"]; readonly request?: Sealed },
  ): Wait {
    const { key, digest, ms } = open;
    const before = this.#known.get(key);
    const isSame = before !== undefined && before.digest === digest;
    // A limit that the code no longer has is none, whatever was put out.
    const kept = isSame ? before.dueAt : undefined;
    const dueAt = ms === undefined ? undefined : (kept ?? Math.ceil(now + ms));
    const isAgain = isSame && !this.#spent.has(before.wire);
    const wire = isAgain ? before.wire : this.#nextWire(key);
    const shown =
      isAgain && before.request !== undefined
        ? { kind: "question" as const, request: before.request }
        : show(open, wire);
    const { kind, request } = shown;
    this.#known.set(key, { wire, digest, dueAt, request });
    return {
      kind,
      key,
      wire,
      ...(digest === undefined ? {} : { digest }),
      ...(dueAt === undefined ? {} : { dueAt }),
      ...(request === undefined ? {} : { request }),
    };
  }

  #nextWire(key: string): string {
    const times = (Object.hasOwn(this.asked, key) ? (this.asked[key] ?? 0) : 0) + 1;
    this.asked = { ...this.asked, [key]: times };
    return times === 1 ? key : `${key}~${times}`;
  }
}

/** The id of something that arrived without having been asked for here: from rounds, early, or by a cut. */
export const madeUp = (name: string): string => `~${name}`;

const isMadeUp = (id: string) => id.startsWith("~");
