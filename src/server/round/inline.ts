// A call that would go on in the background, for a client that cannot follow it there: it goes on in its request,
// for a while.

import type { Carrier } from "../../replay/carrier.ts";
import type { Open, Outcome } from "../../replay/outcome.ts";
import { Inbox } from "../../replay/inbox.ts";
import type { InboxEvent } from "../../replay/inbox.ts";
import { run } from "../../replay/run.ts";
import type { Handler } from "../../replay/run.ts";
import type { Stop } from "../../replay/stop.ts";
import type { Call } from "./call.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { waitsForOthers } from "./promote.ts";
import { Unsupported } from "../context/questions.ts";
import type { RoundResponse } from "./request.ts";

export class Inline {
  readonly #core: Core;
  readonly stop: Stop;
  readonly #startedAt: number;
  /** When each sleep is over. */
  readonly #dueAt = new Map<string, number>();
  #callOff: (() => void) | undefined;

  constructor(core: Core, stop: Stop) {
    this.#core = core;
    this.stop = stop;
    this.#startedAt = core.environment.now();
  }

  /** The handler believes itself in the background: from here on time counts. */
  begin(): void {
    // Not a time that a handler waits for, which a test would skip.
    this.#callOff ??= this.#core.environment.eventually(this.#leftMs(), () =>
      this.stop.stop("Deadline"),
    );
  }

  end(): void {
    this.#callOff?.();
  }

  /** As the engine's `run`; where only sleeps are left, which a client could do nothing about, it sleeps itself. */
  async run(
    handler: Handler<unknown, unknown>,
    input: unknown,
    call: Pick<Call, "journal" | "inbox">,
    hooks: Carrier,
  ): Promise<Outcome<unknown>> {
    // What was asleep while a question was out has slept on.
    for (const { key, dueAt } of call.journal.out) {
      if (dueAt !== undefined) this.#dueAt.set(key, dueAt);
    }
    let outcome = await run(handler, input, call, hooks);
    while (outcome.kind === "waiting" && isAsleep(outcome.open)) {
      const due = await this.#sleep(outcome.open);
      if (due === undefined) return { kind: "stopped", reason: this.stop.reason ?? "Deadline" };
      const { entries, unused } = outcome;
      const told = { journal: { entries, out: [] }, inbox: new Inbox([...unused, ...due]) };
      outcome = await run(handler, input, told, hooks);
    }
    return outcome.kind === "waiting" && waitsForOthers(outcome) ? stranded(outcome) : outcome;
  }

  /** Those that are over first. Undefined: that would take too long, or somebody has ended it. */
  async #sleep(open: readonly Open[]): Promise<readonly InboxEvent[] | undefined> {
    const { environment } = this.#core;
    const { now, after } = environment;
    for (const { key, ms = 0 } of open) {
      if (!this.#dueAt.has(key)) this.#dueAt.set(key, now() + ms);
    }
    const times = open.map(({ key }) => this.#dueAt.get(key) ?? 0);
    const waitMs = Math.max(0, Math.min(...times) - now());
    if (waitMs > this.#leftMs()) {
      this.stop.stop("Deadline");
      return undefined;
    }
    await new Promise<void>((resolve) => {
      const callOff = after(waitMs, () => {
        this.stop.remove(awake);
        resolve();
      });
      const awake = {
        stop: () => {
          callOff();
          resolve();
        },
      };
      this.stop.add(awake);
    });
    if (this.stop.reason !== undefined) return undefined;
    return open
      .filter(({ key }) => (this.#dueAt.get(key) ?? 0) <= now())
      .map(({ key }) => ({ kind: "due", key, digest: undefined }));
  }

  #leftMs(): number {
    const { environment, limits } = this.#core;
    return limits.inlineMs - (environment.now() - this.#startedAt);
  }
}

/** Whom it waits for may take days. It could follow a task when the call began, or this would not have been asked. */
function stranded({
  open,
  entries,
}: Extract<Outcome<unknown>, { kind: "waiting" }>): Outcome<unknown> {
  const { key = "" } = open.find(({ kind }) => kind !== "timer") ?? {};
  return { kind: "failed", error: new Unsupported(key, "task"), entries };
}

const isAsleep = (open: readonly Open[]) =>
  open.length > 0 && open.every(({ kind }) => kind === "timer");

/** What a client is told that could not be kept waiting any longer. */
export function tookTooLong({ limits }: Core, definition: Definition): RoundResponse {
  const message =
    `"${definition.name}" goes on in the background, where this client cannot follow it, and was stopped after ${limits.inlineMs / 1_000} s. ` +
    "Call it with a client that declares the tasks extension (io.modelcontextprotocol/tasks).";
  return { kind: "complete", result: definition.toFailure(message) ?? {} };
}
