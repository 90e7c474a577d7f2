// The timeline, as a drawing or as a table with the same contents.

import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { duration, exact, size } from "./format.ts";
import { TimelineDrawing } from "./timeline.tsx";
import type { TimelineProps } from "./timeline.tsx";
import { inRun } from "./timeline-model.ts";

export function TimelineView(props: TimelineProps): ComponentChild {
  const [isTable, setTable] = useState(false);
  const { timeline } = props;
  return (
    <>
      <div class="subheading">
        <h2 id="timeline-title">Timeline</h2>
        {!isTable && timeline.runs.length > 0 && (
          <p class="gutter-legend" aria-hidden="true">
            <i class="new" /> new <i class="replayed" /> replayed
          </p>
        )}
        <button type="button" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          As a table
        </button>
      </div>
      {timeline.rows.length === 0 ? (
        <p class="soft">Nothing has been recorded yet.</p>
      ) : isTable ? (
        <TimelineTable {...props} />
      ) : (
        <TimelineDrawing {...props} />
      )}
    </>
  );
}

const columns = [
  ["Entry", false],
  ["Kind", false],
  ["Began", false],
  ["Took", true],
  ["Tries", true],
  ["Size", true],
  ["New in", true],
  ["Replayed in", false],
] as const;

function TimelineTable(props: TimelineProps): ComponentChild {
  const { timeline, runWord, selected, select } = props;
  const { rows, runs } = timeline;
  return (
    <div class="wide-table" role="region" tabIndex={0} aria-label="Timeline as a table">
      <table>
        <thead>
          <tr>
            {columns.map(([name, isFigure]) => (
              <th key={name} scope="col" class={isFigure ? "figure" : ""}>
                {name === "New in" ? `New in ${runWord}` : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} class={row.id === selected ? "on" : ""}>
              <th scope="row">
                <button type="button" class="link" onClick={() => select(row.id)}>
                  {row.key}
                </button>
              </th>
              <td>
                {row.what}
                {row.isOpen ? ", not over" : ""}
              </td>
              <td>{exact(row.from)}</td>
              <td class="figure">{row.lane === "mark" ? "" : duration(row.to - row.from)}</td>
              <td class="figure">{row.entry?.tries}</td>
              <td class="figure">{row.entry && size(row.entry.bytes)}</td>
              <td class="figure">{row.epoch === 0 ? "" : row.epoch}</td>
              <td>
                {runs
                  .filter((run) => inRun(row, run) === "replayed")
                  .map(({ epoch }) => epoch)
                  .join(", ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
