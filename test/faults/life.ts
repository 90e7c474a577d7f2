// The life of an engine as its store sees it: calls, numbered by name, until one of them is its last.
//
// A process that dies takes its calls with it: what has reached the store is done, but nobody hears of it any
// more. So a dead engine's calls hang. What runs on in memory (a body, a timer) may do what it likes: it can
// neither write nor be told anything, and bodies look at `isOver` before they count.

/** Where an engine dies. */
export interface Point {
  /** A call's name and which of that name it is: "append 3". */
  readonly call: string;
  /**
   * Before it has reached the store; after, and before its answer is back; or before, but the call is on its
   * way, and arrives late.
   */
  readonly when: "before" | "after" | "late";
}

export class Life {
  readonly #last: Point | undefined;
  readonly #die: () => void;
  readonly #ordinals = new Map<string, number>();
  readonly #underWay = new Map<Promise<unknown>, string>();
  /** Never settled before the burial. */
  readonly #limbo: Promise<never>;
  #late: (() => Promise<unknown>) | undefined;
  #bury: () => void = () => {};
  #ended: () => void = () => {};

  isOver = false;
  /** Every call that was made, in order. */
  readonly calls: string[] = [];
  /** What was done while an entry was on its way into the log: it may have been told before it was there. */
  readonly hasty: string[] = [];
  /** The call that arrived late, and what the store said to it. */
  late: { readonly call: string; readonly value: unknown } | undefined;
  readonly end: Promise<void>;

  /** `die` is called at the point, once: a process that is to die in earnest does so there. */
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
      // No store is so close that its answer is there at once.
      await new Promise(setImmediate);
      return answer;
    }, name);
    if (when === "after") this.#over();
    return this.isOver ? this.#limbo : value;
  }

  /** For a look that changes nothing, wherever the engine may die around it. */
  uncounted<T>(reach: () => Promise<T>): Promise<T> {
    return this.#reached(reach, "look");
  }

  /** Something is done that must not be done before the log is written. */
  notes(what: string): void {
    if ([...this.#underWay.values()].includes("append")) this.hasty.push(what);
  }

  /** Resolves when the store has done what had reached it. */
  async atRest(): Promise<void> {
    await Promise.allSettled(this.#underWay.keys());
  }

  /** Now the call arrives that was on its way. */
  async arriveLate(): Promise<void> {
    const late = this.#late;
    if (late === undefined) return;
    this.#late = undefined;
    this.late = { call: this.#last?.call ?? "", value: await late() };
  }

  /** What hangs is let go, so that nothing of the engine is left: its calls fail from now on. */
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
