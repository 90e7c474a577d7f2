// The app's durable side: its store, the task engine on that store, and the worker in this process, if there is one.

import { ParleyError } from "../../errors.ts";
import type { TaskLimits } from "../../tasks/limits.ts";
import { defaultTaskLimits } from "../../tasks/limits.ts";
import type { Program } from "../../tasks/program.ts";
import type { RunDueResult } from "../../tasks/due-run.ts";
import { expectsRunner } from "../../tasks/runner-note.ts";
import { TaskRuntime } from "../../tasks/runtime.ts";
import type { Store, TaskStore } from "../../tasks/store.ts";
import type { CallerLimit, TaskObserver } from "../../tasks/observer.ts";
import type { TaskRecord } from "../../tasks/task.ts";
import { shownWorker, workerName } from "../../tasks/worker-name.ts";
import { TokenError } from "../../token/errors.ts";
import { errorText } from "../../util/error-text.ts";
import { taskAudit } from "../audit/task-audit.ts";
import { sealerOf } from "../core.ts";
import type { Core } from "../core.ts";
import { checkKeys } from "../round/failure.ts";
import type { Registration } from "../define/registry.ts";
import { AfterResponse, afterResponseMs } from "./after-response.ts";
import { OutageLog } from "./outage-log.ts";
import { shortId } from "../../util/short-id.ts";
import { programOf } from "./tool-program.ts";

/** The options of `app.work`. */
export interface WorkOptions {
  /** How many tasks run at once in this process. Default: 16. */
  readonly concurrency?: number | undefined;
}

/** The options of `app.runDue`. */
export interface RunDueOptions {
  /** How long it may take, in milliseconds. The last 5 seconds are kept for running steps to end. */
  readonly budgetMs: number;
  /** How many tasks run at once. Default: 16. */
  readonly concurrency?: number | undefined;
}

function checkConcurrency(concurrency: number): void {
  if (Number.isInteger(concurrency) && concurrency >= 1) return;
  throw new RangeError(`concurrency is ${concurrency}. Pass a whole number of at least 1.`);
}

const pollMs = 1_000;
const sweepMs = 30_000;
const leastSilenceMs = 30_000;

/** The task engine of one app. */
export class Work {
  readonly store: TaskStore;
  readonly runtime: TaskRuntime;
  /** Every failure of the store goes here, so that an outage is logged once and not by each operation. */
  readonly outages: OutageLog;
  /** What runs after the responses of hosts that keep no process. */
  readonly afterResponse: AfterResponse;
  readonly #core: Core;
  readonly #registrations: Iterable<Registration>;
  readonly #programs = new Map<string, Program>();
  #leaseLosses = 0;
  #storeErrors = 0;
  readonly #refusedAt = new Map<CallerLimit, number>();
  /** This process runs what is due now and then, so nobody has to be told that there is no worker. */
  #hasRunner = false;
  #lookedForWorkerAt = Number.NEGATIVE_INFINITY;

  constructor(store: Store, core: Core, registrations: Iterable<Registration>) {
    if (!isTaskStore(store)) {
      throw new TypeError(
        "parley({ store }) takes a task store: what sqliteStore(), postgresStore() or memoryStore() returned, or a store of your own that has all their operations.",
      );
    }
    this.store = store;
    this.#core = core;
    this.#registrations = registrations;
    const { logger, environment } = core;
    this.afterResponse = new AfterResponse(
      async () => this.runDue({ budgetMs: afterResponseMs }),
      () => this.runtime.worker !== undefined,
      logger,
    );
    this.outages = new OutageLog({
      logger,
      environment,
      probe: () => this.runtime.figures(),
      // Long enough for a worker to use the store several times.
      quietMs: store.leaseMs,
    });
    this.runtime = new TaskRuntime({
      store,
      sealer: sealerOf(core),
      programs: { names: () => this.tools, get: (tool) => this.#program(tool) },
      limits: limitsOf(core),
      observer: this.#observer(),
      isDevelopment: core.environment.isDevelopment,
      newId: core.environment.newId,
      version: core.version,
    });
  }

  /** How long a worker may stay silent before it counts as gone. Each one reports every third of a lease. */
  get silenceMs(): number {
    return Math.max(leastSilenceMs, this.store.leaseMs);
  }

  /** Whether nobody will run tasks, if the last worker was seen this long ago. A runner comes back at its own interval. */
  async isSilent(seenMsAgo: number): Promise<boolean> {
    return seenMsAgo > this.silenceMs && !expectsRunner(await this.store.workers());
  }

  get leaseLosses(): number {
    return this.#leaseLosses;
  }

  get storeErrors(): number {
    return this.#storeErrors;
  }

  /** Whether a tool may become a task, so that a worker has something to do. */
  get hasTools(): boolean {
    return [...this.#registrations].some(({ definition }) => definition.task !== undefined);
  }

  async start({ concurrency = 16 }: WorkOptions = {}): Promise<void> {
    checkConcurrency(concurrency);
    const name = this.#workerName();
    if (await this.runtime.start({ name, concurrency, pollMs, sweepMs })) return;
    this.#core.logger.warn(
      "The task store cannot be reached yet. Until it can, this process reports that it is not ready, and keeps trying.",
    );
  }

  /** Runs what is due, then resolves. */
  runDue({ budgetMs, concurrency = 16 }: RunDueOptions): Promise<RunDueResult> {
    checkConcurrency(concurrency);
    const { drainMs } = limitsOf(this.#core);
    if (!(budgetMs > drainMs)) {
      throw new RangeError(
        `app.runDue({ budgetMs: ${budgetMs} }): ${drainMs} ms are kept for running steps to end, so nothing could start. Pass more than ${drainMs}.`,
      );
    }
    this.#hasRunner = true;
    return this.runtime.process.runDue({ name: this.#workerName(), concurrency, budgetMs });
  }

  /** The random part distinguishes two processes that have the same process id, one after the other. */
  #workerName(): string {
    const random = this.#core.environment.newId().slice(0, 6);
    // Workers may have no node:os, and no process id.
    const host = process.getBuiltinModule("node:os")?.hostname() ?? "worker";
    return workerName(`${host}-${process.pid ?? 0}-${random}`, this.#core.version);
  }

  /** The tools whose calls a worker here can run. */
  get tools(): string[] {
    return (
      [...this.#registrations]
        // Calls of a tool with `once` never become tasks, but their steps may have to be undone.
        .filter(({ definition }) => definition.task !== undefined || definition.once === true)
        .map(({ name }) => name)
    );
  }

  #program(tool: string): Program | undefined {
    const known = this.#programs.get(tool);
    if (known !== undefined) return known;
    const found = [...this.#registrations].find(
      ({ kind, name, definition }) =>
        kind === "tool" &&
        name === tool &&
        (definition.task !== undefined || definition.once === true),
    );
    if (found === undefined) return undefined;
    const program = programOf(this.#core, found.definition);
    this.#programs.set(tool, program);
    return program;
  }

  // ---------------------------------------------------------------- logs and metrics

  #observer(): TaskObserver {
    const core = this.#core;
    const { logger } = core;
    const audited = taskAudit(this.#core);
    return {
      started: (worker) => logger.info(`running tasks as ${shownWorker(worker)}`, { worker }),
      created: (task) => {
        core.telemetry.task("created", task.tool);
        const { worker, hasDrained } = this.runtime.process;
        if (this.afterResponse.due()) return;
        if (worker === undefined && !hasDrained && !this.#hasRunner) void this.#lookForWorker(task);
      },
      finished: ({ tool }, status, ms) => core.telemetry.task(status, tool, ms),
      undoEnds: audited.undoEnds,
      cancelled: (task, by) => {
        core.telemetry.task("cancelled", task.tool, task.updatedAt - task.createdAt);
        // Its steps may have to be undone.
        this.afterResponse.due();
        return audited.cancelled(task, by);
      },
      answered: ({ tool }, waitedMs) => {
        core.telemetry.waited(tool, waitedMs);
        this.afterResponse.due();
      },
      leftUndone: () => void this.afterResponse.due(),
      expired: (count) => core.telemetry.expired(count),
      leaseLost: (task) => {
        this.#leaseLosses += 1;
        core.telemetry.task("lease_lost", task.tool);
        logger.warn(
          this.outages.isDown
            ? "A task's lease was lost because the task store cannot be reached. A worker continues the task when it can."
            : "A task's lease was lost because this process was too slow or paused. Another worker continues the task.",
          fieldsOf(task),
        );
      },
      takenOver: (task, from) =>
        logger.warn(
          `A task was taken over from ${shownWorker(from)}, whose lease had ended. It goes on from what was recorded.`,
          { ...fieldsOf(task), from },
        ),
      blocked: (what) =>
        logger.warn(
          `${what.charAt(0).toUpperCase()}${what.slice(1)}. Meanwhile no lease was renewed and no request was served. ` +
            "Do long computations in a worker thread, or give way to other work with await.",
        ),
      couldNotRun: (task, error) =>
        logger.error(`A task could not be run here: ${causeText(error)}`, {
          ...fieldsOf(task),
          attempt: task.fruitless,
        }),
      diverged: (task, error, version) =>
        logger.warn(
          `A task is left to a worker of another version, because ${version === undefined ? "an earlier version" : `version ${version}`} brought it this far and version ${this.#core.version} cannot follow: ${firstLine(errorText(error))}`,
          fieldsOf(task),
        ),
      moved: (task, error) =>
        logger.error(
          `A task was refused. ${error.message}. Find out who can write to it.`,
          fieldsOf(task),
        ),
      gaveUp: (task, cause) =>
        logger.error(
          `A task was given up, because it was started several times without progress. The last cause: ${cause}`,
          fieldsOf(task),
        ),
      undone: (task, step) => {
        core.telemetry.task("undone", task.tool);
        logger.info(`Step "${step}" was undone.`, { ...fieldsOf(task), step });
      },
      undoDelayed: (task, step, error, until) =>
        logger.warn(
          `Step "${step}" of call ${task.callId} cannot be undone yet: ${errorText(error)}. Retrying until ${minuteOf(until)}.`,
          { ...fieldsOf(task), step },
        ),
      undoFailed: (task, step, error) => {
        core.telemetry.task("undo_failed", task.tool);
        logger.error(
          `Step "${step}" of call ${task.callId} was not undone, and is not tried again: ${errorText(error)}. Undo it by hand.`,
          { ...fieldsOf(task), step },
        );
      },
      limitReached: (principal, limit, value) => this.#limitReached(principal, limit, value),
      storeFailed: (error) => {
        this.#storeErrors += 1;
        core.telemetry.storeFailed(this.store["~store"]);
        this.outages.failed(error);
      },
      // Another operation may still fail, so the log finds out by itself when an outage is over.
      storeBack: () => {},
    };
  }

  /** Logs that a caller was refused, at most once a minute for each limit. */
  #limitReached(principal: string, limit: CallerLimit, value: number): void {
    const now = this.#core.environment.now();
    if (now - (this.#refusedAt.get(limit) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    this.#refusedAt.set(limit, now);
    this.#core.logger.warn(
      principal === ""
        ? `limits.${limit} (${value}) is reached for all callers without a principal together, so none of them can add more. ` +
            "Pass parley({ auth, principal }), so that each caller has a limit of its own, or raise the limit."
        : `limits.${limit} (${value}) is reached for a caller, so its new calls are refused.`,
      principal === "" ? {} : { principal },
    );
  }

  /** Logs an error if no worker runs the new task. With `app.fetch` that is the most common mistake. */
  async #lookForWorker(task: TaskRecord): Promise<void> {
    const { environment, logger } = this.#core;
    const now = environment.now();
    if (now - this.#lookedForWorkerAt < this.silenceMs) return;
    this.#lookedForWorkerAt = now;
    try {
      const figures = await this.runtime.figures();
      const { workerSeenAt = 0 } = figures;
      if (!(await this.isSilent(figures.now - workerSeenAt))) return;
      const problem = noWorker(task.id, this.silenceMs);
      logger.error(problem.message, { ...fieldsOf(task), code: problem.code });
    } catch (error) {
      logger.debug(`The store could not say whether there is a worker: ${errorText(error)}`);
    }
  }
}

const firstLine = (text: string) => text.split("\n", 1)[0] ?? text;
/** A time to the minute, such as 2026-08-01T10:00Z. */
const minuteOf = (time: number): string => `${new Date(time).toISOString().slice(0, 16)}Z`;

/** The members of a line of the log about a task. */
const fieldsOf = ({ id, callId, tool }: TaskRecord) => ({
  handler: tool,
  call: callId,
  task: shortId(id),
});

function noWorker(id: string, silenceMs: number): ParleyError {
  return new ParleyError(
    "no_worker",
    `Task ${shortId(id)} was created, but no worker has been seen on this store for ${silenceMs / 1_000} s. ` +
      "Call app.work() in a long-lived process, or app.runDue() now and then. app.fetch, app.node and app.attach do not start a worker.",
  );
}

/** The message of a record that does not open is written for clients, so it hides the reason. The log shows it. */
function causeText(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof TokenError ? error.cause : error;
  if (!(cause instanceof TokenError)) return errorText(error);
  return `its record cannot be opened (${cause.reason}). ${checkKeys}`;
}

/** The limits of the task engine, from those of the app. */
export function limitsOf({ limits }: Core): TaskLimits {
  return {
    ...defaultTaskLimits,
    tasksPerPrincipal: limits.tasksPerPrincipal,
    taskTtlMs: limits.taskTtlMs,
    logBytes: limits.taskLogBytes,
    questions: limits.taskQuestions,
    storedBytes: limits.storedBytesPerPrincipal,
    endedTasks: limits.endedTasksPerPrincipal,
    unreadMs: limits.unreadTaskMs,
    divergedMs: limits.divergedMs,
    undoMs: limits.undoMs,
    auditMs: limits.auditMs,
    streamBytes: limits.streamBytes,
  };
}

function isTaskStore(store: Store): store is TaskStore {
  return "claim" in store && "append" in store && "leaseMs" in store;
}
