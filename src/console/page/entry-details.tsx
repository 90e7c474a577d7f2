// Everything about the entry that is selected.

import type { ComponentChild } from "preact";
import { duration, exact, size } from "./format.ts";
import { isOffline } from "./live-reading.ts";
import { Facts, JsonText } from "./parts.tsx";
import { inRun } from "./timeline-model.ts";
import type { Row, Timeline } from "./timeline-model.ts";

export function EntryDetails(props: {
  readonly row: Row | undefined;
  readonly timeline: Timeline;
  readonly runWord: string;
  readonly rerun?: () => void;
}): ComponentChild {
  const { row, timeline, runWord, rerun } = props;
  return (
    <aside class="details" aria-label="The selected entry" aria-live="polite">
      {row === undefined ? (
        <p class="soft">
          Select an entry to see its value, its digest and its idempotency key. A filled dot in the
          gutter means that a {runWord} recorded the entry, and a ring that it replayed it.
        </p>
      ) : (
        <>
          <h2>
            <code>{row.key}</code>
          </h2>
          <RowFacts row={row} timeline={timeline} runWord={runWord} />
          {row.entry?.error !== undefined && <p class="error">{row.entry.error}</p>}
          {row.entry?.value !== undefined && (
            <JsonText value={row.entry.value} label={`The value of ${row.key}`} />
          )}
          {rerun !== undefined && (
            <button type="button" disabled={isOffline()} onClick={rerun}>
              Run again from this entry
            </button>
          )}
        </>
      )}
    </aside>
  );
}

function RowFacts(props: {
  readonly row: Row;
  readonly timeline: Timeline;
  readonly runWord: string;
}): ComponentChild {
  const { row, timeline, runWord } = props;
  const { entry, wait } = row;
  const writer = timeline.runs.find(({ epoch }) => epoch === row.epoch);
  const replays = timeline.runs.filter((run) => inRun(row, run) === "replayed");
  return (
    <Facts
      facts={[
        ["What", row.isOpen ? `${row.what}, not over` : row.what],
        ["For", wait?.group],
        ["Recorded", entry?.at === undefined ? undefined : exact(entry.at)],
        ["Since", wait === undefined ? undefined : exact(row.from)],
        ["Until", wait?.dueAt === undefined ? undefined : exact(wait.dueAt)],
        ["Took", row.lane === "mark" ? undefined : duration(row.to - row.from)],
        ["Tries", entry?.tries],
        [
          `New in ${runWord}`,
          row.epoch === undefined
            ? undefined
            : row.epoch === 0
              ? "none: it is older than the task"
              : `${row.epoch}${writer === undefined ? "" : ` on ${writer.worker}`}`,
        ],
        ["Replayed in", replays.map(({ epoch }) => epoch).join(", ")],
        ["Size", entry && size(entry.bytes)],
        ["Via", entry?.via],
        ["Undo", entry?.undo],
        ["Idempotency key", entry?.idempotencyKey && <code>{entry.idempotencyKey}</code>],
        ["Digest", entry?.digest && <code>{entry.digest}</code>],
        ["Source", entry?.line && <code>{entry.line}</code>],
      ]}
    />
  );
}
