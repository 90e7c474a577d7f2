// Gives names to the values that are different in every run, such as tokens and the ids of tasks, and puts the values of
// this run back in their place.

/** Members whose values nobody can foresee. The name under which one is kept has its kind and a number. */
const kinds: Readonly<Record<string, string>> = {
  requestState: "state",
  taskId: "task",
  elicitationId: "elicitation",
  "mcp-session-id": "session",
  progressToken: "progress",
  token: "progress",
  "io.modelcontextprotocol/subscriptionId": "subscription",
  "io.github.mcp-parley/idempotencyKey": "key",
  createdAt: "time",
  lastUpdatedAt: "time",
};

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const ticket = /(?<=[?&]state=)[^&"]+/;
const here = /\b127\.0\.0\.1:\d+/g;

/** The length of the shortest value that is hidden. */
const shortest = 10;

export class Hidden {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** The message with names in the place of values. It learns the values on its way. */
  hide<T>(message: T): T {
    this.#learn(message);
    return this.#replaced(message, (text) => {
      let hidden = text.replace(here, "127.0.0.1");
      for (const [value, name] of this.#longestFirst()) hidden = hidden.replaceAll(value, name);
      return hidden;
    });
  }

  /** The message with the values of this run in the place of names. A name that has no value stays. */
  show<T>(message: T): T {
    const values = [...this.#names].map(([value, name]) => [name, value] as const);
    return this.#replaced(message, (text) => {
      let shown = text;
      for (const [name, value] of values.toReversed()) shown = shown.replaceAll(name, value);
      return shown;
    });
  }

  /** A value may contain another one. */
  #longestFirst(): [value: string, name: string][] {
    return [...this.#names].toSorted(([one], [other]) => other.length - one.length);
  }

  #learn(message: unknown): void {
    if (typeof message !== "object" || message === null) return;
    for (const [member, value] of Object.entries(message)) {
      if (typeof value === "string") {
        this.#learnText(member, value);
        continue;
      }
      // Some servers make up the keys of their questions.
      if (member === "inputRequests") {
        for (const key of Object.keys(Object(value))) this.#name("question", key, 40);
      }
      this.#learn(value);
    }
  }

  #learnText(member: string, value: string): void {
    const kind = kinds[member];
    const [found] = (member === "url" && ticket.exec(value)) || [];
    if (kind !== undefined) this.#name(kind, value);
    // Some servers make up the ids of their requests.
    else if (member === "id" && uuid.test(value)) this.#name("id", value);
    else if (found !== undefined) this.#name("ticket", found);
  }

  #name(kind: string, value: string, atLeast = shortest): void {
    // A short value is not an accident, and would be found within other words.
    if (value.length < atLeast || value.startsWith("~") || this.#names.has(value)) return;
    const count = kind === "time" ? 1 : (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    this.#names.set(value, kind === "time" ? aTime : `~${kind}-${count}~`);
  }

  #replaced<T>(message: T, replace: (text: string) => string): T {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only the texts in it change
    return this.#replacedIn(message, replace) as T;
  }

  #replacedIn(message: unknown, replace: (text: string) => string): unknown {
    if (typeof message === "string") return replace(message);
    if (typeof message !== "object" || message === null) return message;
    if (Array.isArray(message)) return message.map((one) => this.#replacedIn(one, replace));
    const isOver = "status" in message && ends.has(message.status);
    return Object.fromEntries(
      Object.entries(message).map(([name, value]) => [
        name.length < shortest ? name : replace(name),
        isOver && name === "ttlMs" ? rounded(value) : this.#replacedIn(value, replace),
      ]),
    );
  }
}

/** A task that has ended is kept for some time after its end, so its time to live has the time that it took. */
function rounded(ttlMs: unknown): unknown {
  if (typeof ttlMs !== "number") return ttlMs;
  return ttlMs - (ttlMs % (ttlMs < 3_600_000 ? 60_000 : 3_600_000));
}
const ends = new Set<unknown>(["completed", "cancelled", "failed"]);

/** Every time is kept as this one, because a client may want to read it. */
const aTime = "2026-01-01T00:00:00.000Z";
