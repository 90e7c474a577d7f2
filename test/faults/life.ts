// The life of an engine as its store sees it: calls, numbered by name, until the last one.
//
// When a process dies, a call that has reached the store is done, and its response is lost. So the calls of a dead engine
// never settle. A body or a timer may still run in memory, but it can neither write nor learn anything, and a body checks
// `isOver` before it counts itself.

/** The point at which an engine dies. */
export interface Point {
  /** The name of a call and its number, such as "append 3". */
  readonly call: string;
  /**
   * "before": the call has not reached the store. "after": the store has done it, and the response is lost. "late":
   * the engine dies first, and the call arrives later.
   */
  readonly when: "before" | "after" | "late";
}

export class Life {
  readonly #last: Point | undefined;
  readonly #die: () => void;
  readonly #ordinals = new Map<string, number>();
  readonly #underWay = new Map<Promise<unknown>, string>();
  /** These calls do not settle before `bury`. */
  readonly #limbo: Promise<never>;
  #late: (() => Promise<unknown>) | undefined;
  #bury: () => void = () => {};
  #ended: () => void = () => {};

  isOver = false;
  /** Every call, in order. */
  readonly calls: string[] = [];
  /** What was done while an entry was being written, when the handler may have received it too early. */
  readonly hasty: string[] = [];
  /** The call that arrived late, and what the store returned. */
  late: { readonly call: string; readonly value: unknown } | undefined;
  readonly end: Promise<void>;

  /** `die` is called once, at the point. A real process kills itself there. */
  constructor(last: Point | undefined, die: () => void = () => {}) {
    this.#last = last;
    this.#die = die;
    this.end = new Promise((resolve) => {
      this.#ended = resolve;
    });
    this.#limbo = new Promise((_resolve, reject) => {
      this.#bury = () => reject(new Error("This engine is dead."));
    });
    this.#limbo.catch(() => {});
  }

  async call<T>(name: string, reach: () => Promise<T>): Promise<T> {
    if (this.isOver) return this.#limbo;
    const ordinal = (this.#ordinals.get(name) ?? 0) + 1;
    this.#ordinals.set(name, ordinal);
    const call = `${name} ${ordinal}`;
    this.calls.push(call);
    if (["append", "park", "publish", "finish"].includes(name)) this.notes(call);
    const when = this.#last?.call === call ? this.#last.when : undefined;
    if (when === "late") this.#late = reach;
    if (when === "before" || when === "late") this.#over();
    const value = await this.#reached(async () => {
      const answer = await reach();
      // No store responds at once.
      await new Promise(setImmediate);
      return answer;
    }, name);
    if (when === "after") this.#over();
    return this.isOver ? this.#limbo : value;
  }

  /** For a read, which changes nothing. The engine does not die there. */
  uncounted<T>(reach: () => Promise<T>): Promise<T> {
    return this.#reached(reach, "look");
  }

  /** Notes an action that must not happen before the log is written. */
  notes(what: string): void {
    if ([...this.#underWay.values()].includes("append")) this.hasty.push(what);
  }

  /** Resolves when the store has done everything that had reached it. */
  async atRest(): Promise<void> {
    await Promise.allSettled(this.#underWay.keys());
  }

  /** Lets the late call arrive. */
  async arriveLate(): Promise<void> {
    const late = this.#late;
    if (late === undefined) return;
    this.#late = undefined;
    this.late = { call: this.#last?.call ?? "", value: await late() };
  }

  /** Rejects the calls that never settled, so that nothing of the engine is left. Its calls fail from now on. */
  bury(): void {
    this.isOver = true;
    this.#bury();
  }

  async #reached<T>(reach: () => Promise<T>, name: string): Promise<T> {
    if (this.isOver) return this.#limbo;
    const reached = reach();
    this.#underWay.set(reached, name);
    try {
      return await reached;
    } finally {
      this.#underWay.delete(reached);
    }
  }

  #over(): void {
    this.isOver = true;
    this.#die();
    this.#ended();
  }
}
