// The timeline, as a drawing or as a table with the same contents.

import type { ComponentChild } from "preact";
import { useState } from "preact/hooks";
import { duration, exact, size } from "./format.ts";
import { TimelineDrawing } from "./timeline.tsx";
import type { TimelineProps } from "./timeline.tsx";
import { inRun } from "./timeline-model.ts";
import type { Row, Timeline } from "./timeline-model.ts";

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
  ["Replayed in", true],
] as const;

function TimelineTable(props: TimelineProps): ComponentChild {
  const { timeline, runWord, selected, select } = props;
  const { rows, runs } = timeline;
  return (
    <div
      class="wide-table stacks entries"
      role="region"
      tabIndex={0}
      aria-label="Timeline as a table"
    >
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
              <td class="figure" data-name="took">
                {row.lane === "mark" ? "" : duration(row.to - row.from)}
              </td>
              <td class="figure" data-name="tries">
                {row.entry?.tries}
              </td>
              <td class="figure" data-name="size">
                {row.entry && size(row.entry.bytes)}
              </td>
              <td class="figure" data-name={`new in ${runWord}`}>
                {row.epoch === 0 ? "" : row.epoch}
              </td>
              <td class="figure" data-name="replayed in">
                {replayedIn(row, runs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The runs that replayed an entry, which are all that came after the one that recorded it: "2" or "2–5". */
function replayedIn(row: Row, runs: Timeline["runs"]): string {
  const replays = runs.filter((run) => inRun(row, run) === "replayed");
  const [first, last] = [replays[0]?.epoch, replays.at(-1)?.epoch];
  if (first === undefined) return "";
  return first === last ? String(first) : `${first}–${last}`;
}
