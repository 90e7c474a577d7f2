// The runs of a task: who ran it, how each run ended, and what it replayed.

import type { ComponentChild } from "preact";
import { duration } from "./format.ts";
import { When } from "./parts.tsx";
import { endOf, takeoverText } from "./run-ends.ts";
import { inRun, isUnknown } from "./timeline-model.ts";
import type { Timeline } from "./timeline-model.ts";
import type { KnownRun } from "./timeline-scale.ts";

export function RunTable({ timeline }: { readonly timeline: Timeline }): ComponentChild {
  const { rows, runs } = timeline;
  if (runs.length === 0) return undefined;
  return (
    <section>
      <h2>Runs</h2>
      <div class="wide-table stacks" role="region" tabIndex={0} aria-label="Runs">
        <table>
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Worker</th>
              <th scope="col">Began</th>
              <th scope="col" class="figure">
                Took
              </th>
              <th scope="col" class="figure">
                New
              </th>
              <th scope="col" class="figure">
                Replayed
              </th>
              <th scope="col">How it ended</th>
            </tr>
          </thead>
          <tbody>
            {runs.toReversed().map((run) => (
              <tr key={run.epoch}>
                <th scope="row" data-name="Run">
                  {run.epoch}
                </th>
                <td class="breaks">
                  <code>{run.worker}</code>
                </td>
                <td>
                  <When at={run.beganAt} isTimed />
                </td>
                <td class="figure" data-name="took">
                  {tookText(run)}
                </td>
                <td class="figure" data-name="new">
                  {rows.filter((row) => inRun(row, run) === "new").length}
                </td>
                <td class="figure" data-name="replayed">
                  {isUnknown(run)
                    ? "unknown"
                    : rows.filter((row) => inRun(row, run) === "replayed").length}
                </td>
                <td class={run.isDead || (run.isOpen && run.isSilent === true) ? "bad" : ""}>
                  {endOf(run)} {takeoverText(run, runs)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Nobody knows how long a worker that lost the task went on. */
function tookText({ isLost, recordedAt, beganAt, until }: KnownRun): string {
  const took = duration(until - beganAt);
  if (!isLost) return took;
  return recordedAt === undefined ? "unknown" : `at least ${took}`;
}
