// A call that asked for the background, from a client that cannot follow a task. It continues within its request, for at most
// `limits.inlineMs`.

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
import { Unsupported } from "../context/unsupported-question.ts";
import type { RoundResponse } from "./request.ts";

/** Runs such a call, and stops it when its time is up. */
export class Inline {
  readonly #core: Core;
  readonly stop: Stop;
  readonly #startedAt: number;
  /** When each sleep ends, by key. */
  readonly #dueAt = new Map<string, number>();
  #callOff: (() => void) | undefined;

  constructor(core: Core, stop: Stop) {
    this.#core = core;
    this.stop = stop;
    this.#startedAt = core.environment.now();
  }

  /** The handler has called `background()`. From now on the time limit counts. */
  begin(): void {
    // `eventually`, not `after`: the handler does not wait for this timer, so the test kit must not skip to it.
    this.#callOff ??= this.#core.environment.eventually(this.#leftMs(), () =>
      this.stop.stop("Deadline"),
    );
  }

  end(): void {
    this.#callOff?.();
  }

  /** Does what the engine's `run` does. If only sleeps are left, which a client cannot end, it waits for them here. */
  async run(
    handler: Handler<unknown, unknown>,
    input: unknown,
    call: Pick<Call, "journal" | "inbox">,
    carrier: Carrier,
  ): Promise<Outcome<unknown>> {
    // A sleep that began in an earlier round continues.
    for (const { key, dueAt } of call.journal.out) {
      if (dueAt !== undefined) this.#dueAt.set(key, dueAt);
    }
    let outcome = await run(handler, input, call, carrier);
    while (outcome.kind === "waiting" && isAsleep(outcome.open)) {
      const due = await this.#sleep(outcome.open);
      if (due === undefined) return { kind: "stopped", reason: this.stop.reason ?? "Deadline" };
      const { entries, unused } = outcome;
      const resumed = { journal: { entries, out: [] }, inbox: new Inbox([...unused, ...due]) };
      outcome = await run(handler, input, resumed, carrier);
    }
    return outcome.kind === "waiting" && waitsForOthers(outcome)
      ? stranded(carrier.name, outcome)
      : outcome;
  }

  /** Waits for the first sleeps to end, and returns them. Undefined if that takes too long or the call is stopped. */
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

/**
 * The call waits for someone else, which may take days. This happens only if the client declared the tasks extension at the
 * beginning of the call and no longer does: otherwise the question would have failed when it was asked.
 */
function stranded(
  handler: string,
  { open, entries }: Extract<Outcome<unknown>, { kind: "waiting" }>,
): Outcome<unknown> {
  const { key = "" } = open.find(({ kind }) => kind !== "timer") ?? {};
  return { kind: "failed", error: new Unsupported(handler, key, "task"), entries };
}

const isAsleep = (open: readonly Open[]) =>
  open.length > 0 && open.every(({ kind }) => kind === "timer");

/** The response when the time is up. */
export function tookTooLong({ limits }: Core, definition: Definition): RoundResponse {
  const message =
    `"${definition.name}" was stopped after ${limits.inlineMs / 1_000} s. It needs to run in the background, and this client cannot follow a task. ` +
    "Call it with a client that declares the tasks extension (io.modelcontextprotocol/tasks).";
  return { kind: "complete", result: definition.toFailure(message) ?? {} };
}
