// What the server measures, and the telemetry that measures nothing. installed-telemetry.ts measures.

import type { SpanContext } from "../../util/open-telemetry.ts";
import type { RequestFacts } from "../context/context.ts";
import type { StepObserver } from "../context/observed-body.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundResponse } from "../round/request.ts";
import type { Gauge, TaskEvent } from "./telemetry-metrics.ts";
import type { RunTrace, TracedCall, TracedStep, TracedTask } from "./telemetry-spans.ts";

/** The trace of one round. */
interface RoundTrace {
  /** Runs the round in its span, so that the spans of what it calls become children. Undefined if it has none. */
  readonly within: (<T>(run: () => T) => T) | undefined;
  /** The span of the call's first round, for the rounds to come. */
  readonly first: SpanContext | undefined;
  /** The span of this round. */
  readonly own: SpanContext | undefined;
  readonly end: (response: RoundResponse) => void;
}

/** Runs the body of a step in a span of its own. */
type StepTrace = (
  definition: Definition,
  of: TracedStep,
  ...step: Parameters<StepObserver["runBody"]>
) => unknown;

/** What the server measures. */
export interface Telemetry {
  /** Whether metrics are collected. */
  readonly isMeasuring: boolean;
  readonly begin: (
    definition: Definition,
    call: TracedCall,
    /** The facts as an object, because its members are made on first use. */
    facts: Pick<RequestFacts, "meta" | "headers">,
  ) => RoundTrace;
  /** Undefined if nothing is collected. */
  readonly run: (definition: Definition, task: TracedTask) => RunTrace | undefined;
  /** Undefined if the API is not installed, so that a step costs nothing more. */
  readonly step: StepTrace | undefined;
  /** A token was refused, so there is no round. */
  readonly refused: (definition: Definition, reason: string) => void;
  /** `ms` is how long the task has lived, if it has ended. */
  readonly task: (event: TaskEvent, tool: string, ms?: number) => void;
  /** The sweep that ends tasks whose time is up does not say which tool they belong to. */
  readonly expired: (count: number) => void;
  /** An answer or a delivery came, this long after it was asked for. */
  readonly waited: (tool: string, ms: number) => void;
  readonly storeFailed: (store: string) => void;
  /** An audit record could not be written. */
  readonly auditFailed: (where: "sink" | "store") => void;
  /** Reads the gauges each time metrics are collected. Returns the function that ends this. */
  readonly gauges: (read: () => Promise<Readonly<Record<Gauge, number>> | undefined>) => () => void;
}

const silent: RoundTrace = {
  within: undefined,
  first: undefined,
  own: undefined,
  end: () => {},
};

/** Measures nothing. */
export const noTelemetry: Telemetry = {
  isMeasuring: false,
  begin: () => silent,
  run: () => undefined,
  step: undefined,
  refused: () => {},
  task: () => {},
  expired: () => {},
  waited: () => {},
  storeFailed: () => {},
  auditFailed: () => {},
  gauges: () => () => {},
};
