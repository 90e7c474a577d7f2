// The body of a step as the test kit and the telemetry see it.

import type { Body, StepInfo } from "../../replay/operations.ts";
import type { UndoInfo } from "../../tasks/program.ts";

/** Lets the test kit see steps, and run their bodies in its own way. */
export interface StepObserver {
  /** The handler reached this step. Its body runs, or its outcome is replayed. */
  readonly onStep: (key: string) => void;
  /** Called in place of the body. */
  readonly runBody: (key: string, step: StepInfo, body: (step: StepInfo) => unknown) => unknown;
  /** Called in place of an undo. */
  readonly runUndo?: (undone: UndoInfo, undo: (undone: UndoInfo) => unknown) => unknown;
}

/** What watches the steps of a call. */
export interface Watched {
  readonly stepObserver: StepObserver | undefined;
  /** Runs the body of a step in a span of its own. Undefined if nothing is traced. */
  readonly stepTrace: StepObserver["runBody"] | undefined;
}

/** Announces the step, and wraps its body for the test kit and the telemetry. */
export function observedBody({ stepObserver, stepTrace }: Watched, key: string, body: Body): Body {
  // The engine refuses anything that is not a function, so it has to see it.
  if (typeof body !== "function") return body;
  stepObserver?.onStep(key);
  const observed: Body =
    stepObserver === undefined ? body : (step) => stepObserver.runBody(key, step, body);
  return stepTrace === undefined ? observed : (step) => stepTrace(key, step, observed);
}
