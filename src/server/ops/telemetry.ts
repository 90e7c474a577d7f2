// Traces and metrics through @opentelemetry/api, if it is installed. Each round, each run of a task and each body of a
// step is a span. Rounds and runs come as requests and claims of their own, so each links to the first span of its call,
// which travels in the sealed state.

import { openTelemetry } from "../../util/open-telemetry.ts";
import type { SpanContext } from "../../util/open-telemetry.ts";
import type { RequestFacts } from "../context/context.ts";
import type { StepObserver } from "../context/observed-body.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundResponse } from "../round/request.ts";
import { isThenable } from "../../util/promises.ts";
import { measuring } from "./telemetry-metrics.ts";
import type { Gauge, TaskEvent } from "./telemetry-metrics.ts";
import { tracing } from "./telemetry-spans.ts";
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

const noTelemetry: Telemetry = {
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

/** Uses the API if it is installed, and does nothing otherwise. */
export function telemetry(): Telemetry {
  const api = openTelemetry();
  if (api === undefined) return noTelemetry;
  const metrics = measuring(api);
  const spans = tracing(api);
  return {
    isMeasuring: metrics.isMeasuring,
    task: metrics.task,
    expired: metrics.expired,
    waited: metrics.waited,
    storeFailed: metrics.storeFailed,
    auditFailed: metrics.auditFailed,
    refused: metrics.refused,
    gauges: metrics.gauges,
    begin: (definition, call, facts) => {
      const ended = metrics.round(definition, call.round);
      const span = spans.round(definition, call, facts);
      // The API is installed, but no SDK that collects spans.
      if (span === undefined) {
        return { within: undefined, first: call.firstSpan, own: undefined, end: ended };
      }
      return {
        within: span.within,
        first: call.firstSpan ?? span.context,
        own: span.context,
        end: (response) => {
          ended(response);
          span.end(response);
        },
      };
    },
    run: spans.run,
    step: (definition, of, key, step, body) => {
      const ended = metrics.step(definition);
      const span = spans.step(definition, of, key, step);
      if (ended === undefined && span === undefined) return body(step);
      const end = (error?: { readonly thrown: unknown }) => {
        ended?.(error);
        span?.end(error);
      };
      return settled(() => (span === undefined ? body(step) : span.within(() => body(step))), end);
    },
  };
}

/** Calls `end` when the body has ended. A synchronous body stays synchronous. */
function settled(
  body: () => unknown,
  end: (error?: { readonly thrown: unknown }) => void,
): unknown {
  let value: unknown;
  try {
    value = body();
  } catch (thrown) {
    end({ thrown });
    throw thrown;
  }
  if (!isThenable(value)) {
    end();
    return value;
  }
  // Only one `then`, because a query builder runs its query with each.
  return value.then(
    (result) => {
      end();
      return result;
    },
    (thrown: unknown) => {
      end({ thrown });
      throw thrown;
    },
  );
}
