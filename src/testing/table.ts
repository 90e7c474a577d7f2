// Where a call is played: requests are served in this process, each on an instance of its own, through
// real tokens.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { tasksExtension } from "../protocol/task.ts";
import type { StepInfo } from "../replay/operations.ts";
import { Stop } from "../replay/stop.ts";
import { MemoryStore } from "../tasks/stores/memory.ts";
import { anotherInstance } from "../server/app.ts";
import type { Watch } from "../server/context/context.ts";
import type { Core } from "../server/core.ts";
import type { Definition } from "../server/define/definition.ts";
import { nodeEnvironment } from "../server/ops/environment.ts";
import type { Environment } from "../server/ops/environment.ts";
import { stderrLogger } from "../server/ops/logger.ts";
import type { Logger } from "../server/ops/logger.ts";
import { serveRound } from "../server/round/round.ts";
import { needsStore } from "../server/tasks/store-needed.ts";
import type { RoundResponse } from "../server/round/request.ts";
import { newKey, parseKeys } from "../token/keyring.ts";
import type { Keyring } from "../token/keyring.ts";
import { TaskTable } from "./task-table.ts";

/** What differs from one request of a call to the next. */
export interface Leg {
  readonly requestState?: string;
  readonly inputResponses?: Readonly<Record<string, object>>;
}

/** One execution of a step's body. */
export interface Execution {
  readonly step: string;
  readonly idempotencyKey: string;
  /** Whether the body looked at its key, as one does to make a second execution harmless. */
  usedKey: boolean;
}

export interface Served {
  readonly answer: RoundResponse;
  readonly executions: readonly Execution[];
  /** Steps whose outcome came from the token. */
  readonly replayed: readonly string[];
}

/** A moment at which the process that serves a request dies. */
export interface Death {
  /** The how manieth execution of a body in this request. */
  readonly body: number;
  readonly when: "before" | "after";
}

export interface Player {
  /** "task": one that can follow a task. The default for a tool that is one or nothing. */
  readonly as?: "modern" | "task" | "no-elicitation" | "no-sampling" | undefined;
  readonly principal?: string | undefined;
  /** Run every round on a fresh instance that shares only the keys. Default true. */
  readonly fresh?: boolean | undefined;
}

export class Table {
  readonly #core: Core;
  readonly #definition: Definition;
  readonly #args: unknown;
  readonly #player: Player;
  readonly #keyring: Keyring;
  readonly #clock = new SkippingClock();
  /** What becomes of a call that goes to the background. */
  readonly tasks: TaskTable;
  readonly #store = new MemoryStore({ now: () => this.#clock.environment.now() });
  #instance: Core | undefined;

  constructor(core: Core, definition: Definition, args: unknown, player: Player) {
    this.#core = core;
    this.#definition = definition;
    this.#args = args;
    this.#player = player;
    this.#keyring = parseKeys(newKey("test"));
    this.tasks = new TaskTable(
      this.#store,
      definition,
      () => this.#serving(),
      (ms) => this.#clock.skip(ms),
    );
  }

  get clock(): SkippingClock {
    return this.#clock;
  }

  get limits(): Core["limits"] {
    return this.#core.limits;
  }

  async send(leg: Leg, death?: Death): Promise<Served> {
    const executions: Execution[] = [];
    const reached: string[] = [];
    const stop = new Stop();
    const answer = await serveRound(this.#serving(), this.#definition, {
      ...targetOf(this.#definition, this.#args),
      requestState: leg.requestState,
      inputResponses: leg.inputResponses,
      capabilities: capabilitiesOf(
        this.#player.as ?? (this.#definition.task === "required" ? "task" : "modern"),
      ),
      principal: this.#player.principal,
      facts: { meta: {} },
      stop,
      watch: watching(executions, reached, death, () => stop.stop("Draining")),
    });
    return { answer, ...told(executions, reached) };
  }

  /** The next run of a task, whose process may die in it: then its lease has to run out. */
  async runTask(id: string, death?: Death): Promise<Omit<Served, "answer">> {
    const executions: Execution[] = [];
    const reached: string[] = [];
    let stop: (() => void) | undefined;
    const watch = watching(executions, reached, death, () => stop?.());
    await this.tasks.run(id, watch, (end) => {
      stop = end;
    });
    return told(executions, reached);
  }

  #serving(): Core {
    const hasStore = this.#core.store !== undefined || needsStore(this.#definition);
    if (this.#player.fresh !== false || this.#instance === undefined) {
      const instance = anotherInstance(this.#core, {
        environment: this.#clock.environment,
        keyring: this.#keyring,
        logger,
        // With a store a state that is too large for a token is no mistake: only where the app would have one.
        store: hasStore ? this.#store : undefined,
      });
      this.#instance = { ...instance, tasks: hasStore ? this.tasks.runtime(instance) : undefined };
    }
    return this.#instance;
  }
}

/** As a request would bring them: nothing of the test's own objects reaches the handler. */
function targetOf(
  { method, name }: Definition,
  args: unknown,
): { target: string; arguments: unknown } {
  if (method === "resources/read") return { target: String(args), arguments: {} };
  return { target: name, arguments: JSON.parse(JSON.stringify(args ?? {})) };
}

/** Refused tokens are what a crash test is made of, and most mistakes are what `play` rejects with. */
const logger: Logger = {
  ...stderrLogger,
  warn: () => {},
  error: (message, fields) => {
    if (fields?.["code"] === "ctx_after_return") stderrLogger.error(message, fields);
  },
};

/** Time that passes at once when something waits for it, and otherwise when it is told to. */
export class SkippingClock {
  #skippedMs = 0;

  readonly environment: Environment = {
    ...nodeEnvironment,
    now: () => Date.now() + this.#skippedMs,
    after: (ms, callback) => {
      let isOff = false;
      // Through the engine's own turns: a test may have put fake timers in place of the real ones.
      nodeEnvironment.turns.full(() => {
        if (isOff) return;
        this.skip(ms);
        callback();
      });
      return () => {
        isOff = true;
      };
    },
    isDevelopment: true,
    stallMs: 0,
  };

  skip(ms: number): void {
    this.#skippedMs += ms;
  }
}

/** Notes which bodies run, and lets the process die at one of them. */
function watching(
  executions: Execution[],
  reached: string[],
  death: Death | undefined,
  stop: () => void,
): Watch {
  // What is left of a process that dies: nobody records and nobody answers.
  const die = (): Promise<never> => {
    stop();
    return new Promise(() => {});
  };
  return {
    onStep: (key) => void reached.push(key),
    runBody: (step, info, body) => {
      const count = executions.length + 1;
      if (death?.when === "before" && death.body === count) return die();
      const execution = watched(step, info);
      // A further try of its own is part of the same execution.
      if (info.attempt === 1) executions.push(execution.record);
      if (death?.body !== count) return body(execution.info);
      return new Promise((resolve) => resolve(body(execution.info))).then(die, die);
    },
  };
}

function told(
  executions: readonly Execution[],
  reached: readonly string[],
): Pick<Served, "executions" | "replayed"> {
  const ran = new Set(executions.map(({ step }) => step));
  return { executions, replayed: reached.filter((key) => !ran.has(key)) };
}

function watched(step: string, info: StepInfo): { record: Execution; info: StepInfo } {
  const { idempotencyKey, attempt } = info;
  const record: Execution = { step, idempotencyKey, usedKey: false };
  return {
    record,
    info: {
      attempt,
      get idempotencyKey() {
        record.usedKey = true;
        return idempotencyKey;
      },
      get signal() {
        return info.signal;
      },
    },
  };
}

function capabilitiesOf(as: Player["as"] = "modern"): ClientCapabilities {
  const everything: ClientCapabilities = {
    elicitation: { form: {}, url: {} },
    sampling: { tools: {}, context: {} },
    roots: {},
  };
  if (as === "task") everything.extensions = { [tasksExtension]: {} };
  if (as === "no-elicitation") delete everything.elicitation;
  if (as === "no-sampling") delete everything.sampling;
  return everything;
}
