// The metrics of the server. docs/operate.md lists them, and docs/dashboard.json shows them.

import { collectingMeter, durations } from "../../util/open-telemetry.ts";
import type { BatchResult, Meter, OpenTelemetry } from "../../util/open-telemetry.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundResponse } from "../round/request.ts";
import { errorTypeOf, errorTypeOfResponse, labels } from "./telemetry-labels.ts";

/** What happens to a task. */
export type TaskEvent =
  | ("created" | "completed" | "failed" | "cancelled" | "lease_lost")
  | ("undone" | "undo_failed");

export type Gauge = "live" | "parked" | "held" | "due" | "oldestDueMs";

type ReadGauges = () => Promise<Readonly<Record<Gauge, number>> | undefined>;

interface GaugeOptions {
  readonly name: string;
  readonly description: string;
  readonly unit?: string;
}

const gauges: Record<Gauge, GaugeOptions> = {
  live: { name: "parley.tasks.live", description: "Tasks that have not ended" },
  parked: {
    name: "parley.tasks.parked",
    description: "Tasks that wait for an answer, a delivery or a timer",
  },
  held: { name: "parley.tasks.held", description: "Tasks that a worker holds" },
  due: {
    name: "parley.tasks.due",
    description: "Tasks that are ready to run and not claimed by a worker",
  },
  oldestDueMs: {
    name: "parley.tasks.oldest_due",
    description: "How long the oldest due task has been due",
    unit: "ms",
  },
};

const nothing = () => {};

const noMetrics: Metrics = {
  isMeasuring: false,
  round: () => nothing,
  step: () => undefined,
  task: nothing,
  expired: nothing,
  waited: nothing,
  storeFailed: nothing,
  auditFailed: nothing,
  refused: nothing,
  gauges: () => nothing,
};

interface Metrics {
  readonly isMeasuring: boolean;
  /** Returns the function to call when the round ends. */
  readonly round: (definition: Definition, round: number) => (response: RoundResponse) => void;
  readonly step: (
    definition: Definition,
  ) => ((error?: { readonly thrown: unknown }) => void) | undefined;
  readonly task: (event: TaskEvent, tool: string, ms?: number) => void;
  readonly expired: (count: number) => void;
  readonly waited: (tool: string, ms: number) => void;
  readonly storeFailed: (store: string) => void;
  readonly auditFailed: (where: "sink" | "store") => void;
  readonly refused: (definition: Definition, reason: string) => void;
  readonly gauges: (read: ReadGauges) => () => void;
}

/** Records nothing if no SDK collected metrics when the app was made. */
export function measuring(api: OpenTelemetry): Metrics {
  const meter = collectingMeter(api);
  return meter === undefined ? noMetrics : metricsOf(meter);
}

function metricsOf(meter: Meter): Metrics {
  const rounds = meter.createCounter("parley.rounds", { description: "Rounds, by outcome" });
  const refusals = meter.createCounter("parley.tokens.refused", {
    description: "Tokens refused, by reason",
  });
  const perCall = meter.createHistogram("parley.call.rounds", {
    description: "Rounds a finished call took",
  });
  const tasks = meter.createCounter("parley.tasks", {
    description:
      "Tasks created, completed, failed, cancelled, expired, leases lost, and steps undone or not",
  });
  const storeErrors = meter.createCounter("parley.store.errors", {
    description: "Failures of the task store",
  });
  const auditErrors = meter.createCounter("parley.audit.errors", {
    description: "Audit records that could not be written",
  });
  const roundTime = durations(
    meter,
    "mcp.server.operation.duration",
    "How long a round took",
    "requests",
  );
  const stepTime = durations(
    meter,
    "parley.step.duration",
    "How long the body of a step took",
    "requests",
  );
  const waitTime = durations(
    meter,
    "parley.wait.duration",
    "How long a call waited for answers",
    "days",
  );
  const taskTime = durations(
    meter,
    "parley.task.duration",
    "How long a task took, from its creation to its end",
    "days",
  );
  return {
    isMeasuring: true,
    round: (definition, round) => {
      const { own, outcomes, convention } = labels(definition);
      const startedAt = performance.now();
      return (response) => {
        rounds.add(1, outcomes[response.kind]);
        if (response.kind === "complete") perCall.record(round, own);
        const type = errorTypeOfResponse(response);
        roundTime.record(
          secondsSince(startedAt),
          type === undefined ? convention : { ...convention, "error.type": type },
        );
      };
    },
    step: (definition) => {
      const { own } = labels(definition);
      const startedAt = performance.now();
      return (error) =>
        stepTime.record(
          secondsSince(startedAt),
          error === undefined ? own : { ...own, "error.type": errorTypeOf(error.thrown) },
        );
    },
    task: (event, tool, ms) => {
      const attributes = { "parley.event": event, "parley.handler": tool };
      tasks.add(1, attributes);
      if (ms !== undefined) taskTime.record(Math.max(0, ms) / 1_000, attributes);
    },
    expired: (count) => tasks.add(count, { "parley.event": "expired" }),
    waited: (tool, ms) => waitTime.record(Math.max(0, ms) / 1_000, { "parley.handler": tool }),
    storeFailed: (store) => storeErrors.add(1, { "parley.store": store }),
    auditFailed: (where) => auditErrors.add(1, { "parley.audit": where }),
    refused: (definition, reason) =>
      refusals.add(1, { ...labels(definition).own, "parley.reason": reason }),
    gauges: (read) => observe(meter, read),
  };
}

const secondsSince = (startedAt: number): number => (performance.now() - startedAt) / 1_000;

/** Reads the store once for all gauges. */
function observe(meter: Meter, read: ReadGauges): () => void {
  const made = Object.entries(gauges).map(([key, { name, ...options }]) => ({
    key,
    gauge: meter.createObservableGauge(name, options),
  }));
  const instruments = made.map(({ gauge }) => gauge);
  const callback = async (result: BatchResult) => {
    const values: Readonly<Record<string, number>> = (await read()) ?? {};
    for (const { key, gauge } of made) {
      const value = values[key];
      if (value !== undefined) result.observe(gauge, value);
    }
  };
  meter.addBatchObservableCallback(callback, instruments);
  return () => meter.removeBatchObservableCallback(callback, instruments);
}
