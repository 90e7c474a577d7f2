// Traces and metrics through @opentelemetry/api, if it is installed. Each round, each run of a task and each body of a
// step is a span. Rounds and runs come as requests and claims of their own, so each links to the first span of its call,
// which travels in the sealed state.

import { openTelemetry } from "../../util/open-telemetry.ts";
import { isThenable } from "../../util/promises.ts";
import { noTelemetry } from "./telemetry.ts";
import type { Telemetry } from "./telemetry.ts";
import { measuring } from "./telemetry-metrics.ts";
import { tracing } from "./telemetry-spans.ts";

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
