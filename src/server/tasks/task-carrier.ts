// The carrier of a run in the background. The call comes from its task, without a request.

import type { InputResponses, LoggingLevel } from "@modelcontextprotocol/server";
import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import { modernVersion } from "../../protocol/versions.ts";
import type { Era } from "../../protocol/versions.ts";
import type { Carrier } from "../../replay/carrier.ts";
import { streamingExtension } from "../../protocol/streaming.ts";
import type { PartContent } from "../../protocol/streaming.ts";
import type { TaskFacts } from "../../tasks/program.ts";
import type { StreamPart } from "../../tasks/streams/pieces.ts";
import { errorText } from "../../util/error-text.ts";
import type { Json } from "../../util/json.ts";
import { CallCarrier, noRecording } from "../round/call-carrier.ts";
import type { Recording } from "../round/call-carrier.ts";
import type { CallFacts } from "../context/call-facts.ts";
import type { StepObserver } from "../context/observed-body.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { Logger } from "../ops/logger.ts";
import { formsOnly, wayOf } from "../round/ways.ts";
import type { OpenWays, Privacy, Way } from "../round/ways.ts";

/** What a task keeps of its call, for each of its runs. */
export interface TaskInput {
  readonly arguments: Json;
  readonly abilities: readonly (Ability | ExtensionId)[];
  /** Left out for 2026-07-28, and by version 0.1.0 for every protocol version. */
  readonly era?: Era | undefined;
  /** Left out if they are the client's forms at most, and by version 0.1.0. */
  readonly ways?: OpenWays | undefined;
  readonly inputDigest?: string | undefined;
  /** The `traceparent` of the call's first round and of the round that created the task, if they were traced. */
  readonly trace?: readonly [first: string, created: string] | undefined;
}

export class TaskCarrier extends CallCarrier {
  readonly #task: TaskFacts;
  readonly #abilities: readonly (Ability | ExtensionId)[];
  readonly #ways: OpenWays;
  /** The keys of the questions that the store shows. */
  readonly #shown = new Set<string>();
  readonly #onPublished: (() => void)[] = [];
  override readonly era: Era;
  override readonly stepObserver: StepObserver | undefined;

  constructor(
    core: Core,
    definition: Definition,
    task: TaskFacts,
    { abilities, ways, era = modernVersion }: TaskInput,
    stepObserver: StepObserver | undefined,
  ) {
    super(core, definition, noRecording);
    this.#task = task;
    this.#abilities = abilities;
    this.#ways = ways ?? formsOnly(abilities);
    this.era = era;
    this.stepObserver = stepObserver;
  }

  /** Sends the entries of this run to the task engine's recording. */
  recordingTo(recording: Recording): Carrier {
    this.recording = recording;
    return this;
  }

  override get callId(): string {
    return this.#task.callId;
  }

  // ---------------------------------------------------------------- for the engine

  /** Its rounds may have asked something. */
  protected override get isNewCall(): boolean {
    return false;
  }

  /** It is in the background already. */
  override get canDetach(): boolean {
    return false;
  }

  /** Any worker can continue from any entry, so a checkpoint changes nothing. */
  override get canYield(): boolean {
    return false;
  }

  /** Notes what the store shows, for those who wait for it. */
  override get publish(): Carrier["publish"] {
    const { publish } = this.recording;
    return (
      publish &&
      (async (open) => {
        await publish(open);
        for (const { key } of open) this.#shown.add(key);
        for (const look of this.#onPublished.splice(0)) look();
      })
    );
  }

  // ---------------------------------------------------------------- for `ctx`

  override async published(key: string, signal: AbortSignal): Promise<void> {
    while (!this.#shown.has(key)) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#onPublished.push(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  override get principal(): string | undefined {
    return this.#task.principal === "" ? undefined : this.#task.principal;
  }

  override get request(): undefined {
    return undefined;
  }

  protected override get canUndo(): boolean {
    return true;
  }

  override get mayBecomeTask(): boolean {
    return true;
  }

  override get task(): CallFacts["task"] {
    return { id: this.#task.id };
  }

  override onBackground(): void {}

  override can(ability: Ability | ExtensionId): boolean {
    return this.#abilities.includes(ability);
  }

  override way(privacy: Privacy): Way | undefined {
    return wayOf(this.#ways, privacy);
  }

  /** Only the task's own status leaves a task, so progress becomes its status message. */
  override progress(...[done, total, message]: Parameters<CallFacts["progress"]>): void {
    this.#task.report(progressText(done, total, message));
  }

  /** No open request could carry a log message, and the status message is not meant for logs. */
  override log(...[level, data]: Parameters<CallFacts["log"]>): void {
    this.core.logger[logLevels[level] ?? "info"](logText(data), this.logFields());
  }

  /** A body of a task never waits for those who read it. */
  override get parts(): CallFacts["parts"] {
    if (!this.can(streamingExtension)) return undefined;
    const { stream } = this.#task;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a content block is made of JSON
    const take = (part: PartContent) => stream(part as StreamPart);
    return {
      send: (part) => {
        take(part);
        return undefined;
      },
    };
  }

  override onSchemaError(key: string, error: unknown): void {
    this.core.logger.warn(
      `The value for "${key}" was ignored: ${errorText(error)}`,
      this.logFields(),
    );
  }

  override answers(): InputResponses {
    return {};
  }

  override state(): undefined {
    return undefined;
  }

  /** Not longer than a task may last. */
  protected override ticketTtlMs(timeoutMs: number = this.core.limits.taskTtlMs): number {
    return Math.min(timeoutMs, this.core.limits.taskTtlMs);
  }
}

/** A task's status is text, so the numbers are part of it, and a client can draw a progress bar from them. */
function progressText(
  done: number,
  total: number | undefined,
  message: string | undefined,
): string {
  const figures = total === undefined ? `${done}` : `${done}/${total}`;
  if (message === undefined) return figures;
  return total === undefined || message.includes(figures) ? message : `${message} (${figures})`;
}

/** The level of the server's log for each level of the protocol. */
const logLevels: Readonly<Record<LoggingLevel, keyof Logger>> = {
  debug: "debug",
  info: "info",
  notice: "info",
  warning: "warn",
  error: "error",
  critical: "error",
  alert: "error",
  emergency: "error",
};

function logText(data: unknown): string {
  if (typeof data === "string") return data;
  try {
    return JSON.stringify(data) ?? String(data);
  } catch {
    return "Something was logged that JSON cannot hold.";
  }
}
