// The timeline as a drawing: a gutter that shows for each run what was replayed and what was new, then a bar for each
// entry. The axis is cut where runs begin and end, and what the task waited for has another ground than what ran.

import type { ComponentChild } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { clock, duration } from "./format.ts";
import { inRun } from "./timeline-model.ts";
import type { Row, Timeline } from "./timeline-model.ts";
import { endOf } from "./run-ends.ts";
import { piecesOf, placeOf } from "./timeline-scale.ts";
import type { KnownRun, Piece } from "./timeline-scale.ts";

const wideRow = 24;
/** A narrow window has no room for lengths beside the bars, so they are under the names. */
const narrowRow = 38;
const headHeight = 40;
const column = 15;
const glyph = 7.3;
/** Rows above and below what can be seen. */
const spare = 10;

export interface TimelineProps {
  readonly timeline: Timeline;
  /** What the runs are called: "run", or "round" for calls without a task. */
  readonly runWord: string;
  readonly selected: string | undefined;
  readonly select: (id: string) => void;
}

export function TimelineDrawing(props: TimelineProps): ComponentChild {
  const { timeline, selected, select } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const rowHeight = rowHeightAt(width);
  const [sight, setSight] = useState({ first: 0, last: 60 });
  const look = () => {
    const element = frame.current;
    if (element === null) return;
    // In steps, so that scrolling does not draw with every pixel.
    const tall = rowHeightAt(element.clientWidth);
    const first = Math.floor(element.scrollTop / tall / spare) * spare - spare;
    const last = first + Math.ceil(element.clientHeight / tall) + 3 * spare;
    setSight((known) => (known.first === first && known.last === last ? known : { first, last }));
  };
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const measure = () => {
      setWidth(element.clientWidth);
      look();
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const { rows } = timeline;
  const onKeyDown = (event: KeyboardEvent) => {
    const at = rows.findIndex(({ id }) => id === selected);
    const to = moves[event.key]?.(at, rows.length);
    const row = to === undefined ? undefined : rows[Math.min(rows.length - 1, Math.max(0, to))];
    if (row === undefined) return;
    event.preventDefault();
    select(row.id);
    const element = frame.current;
    if (element === null) return;
    const top = headHeight + rows.indexOf(row) * rowHeight;
    const bottom = top + rowHeight + 8 - element.clientHeight;
    if (top - headHeight < element.scrollTop) element.scrollTop = top - headHeight;
    if (bottom > element.scrollTop) element.scrollTop = bottom;
  };
  const height = headHeight + rows.length * rowHeight + 8;
  return (
    <div
      ref={frame}
      class="timeline"
      role="listbox"
      tabIndex={0}
      aria-label="Timeline. Use the arrow keys to choose an entry."
      aria-activedescendant={selected === undefined ? undefined : `t-${selected}`}
      onKeyDown={onKeyDown}
      onScroll={look}
    >
      {width > 0 && <Drawing {...props} {...sight} width={width} height={height} />}
    </div>
  );
}

const isNarrowAt = (width: number): boolean => width < 560;
const rowHeightAt = (width: number): number => (isNarrowAt(width) ? narrowRow : wideRow);

const moves: Readonly<Record<string, (at: number, all: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + 15,
  PageUp: (at) => at - 15,
  Home: () => 0,
  End: (_, all) => all - 1,
};

interface DrawingProps extends TimelineProps {
  readonly width: number;
  readonly height: number;
  /** The rows that can be seen. The others are not drawn. */
  readonly first: number;
  readonly last: number;
}

function Drawing(props: DrawingProps): ComponentChild {
  const { timeline, width, height, selected, select, runWord, last } = props;
  const { rows, runs } = timeline;
  const isNarrow = isNarrowAt(width);
  const rowHeight = rowHeightAt(width);
  const columns = isNarrow ? 4 : 13;
  // The runs that have no column share one, with a sign.
  const more = runs.length > columns ? 1 : 0;
  const shownRuns = runs.slice(more - columns);
  const gutter = 8 + Math.max(1, shownRuns.length + more) * column + 6;
  const longest = rows.reduce((most, { key }) => Math.max(most, key.length), 4);
  const labels = Math.min(isNarrow ? 116 : 220, longest * glyph + 16);
  const most = Math.floor((labels - 12) / glyph);
  const left = gutter + labels;
  const lengths = isNarrow ? 10 : 92;
  const pieces = useMemo(
    () => piecesOf(runs, timeline.from, timeline.to, Math.max(60, width - left - lengths)),
    [timeline, width, left],
  );
  const timed = timedIn(pieces, width - left - 8);
  const bottom = height - 8;
  const begin = Math.max(0, props.first);
  return (
    <svg width={width} height={height} role="presentation">
      <defs>
        <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse">
          <path d="M0 6L6 0" />
        </pattern>
      </defs>
      <g role="presentation" transform={`translate(${left} 0)`}>
        {pieces.map((piece) => (
          <PieceGround key={piece.left} piece={piece} bottom={bottom} isTimed={timed.has(piece)} />
        ))}
      </g>
      <g role="presentation">
        {more > 0 && (
          <g class="run">
            <title>{`Earlier ${runWord}s are in the table`}</title>
            <text x={8 + column / 2} y="30">
              …
            </text>
          </g>
        )}
        {shownRuns.map((run, index) => (
          <RunColumn
            key={run.epoch}
            run={run}
            rows={rows}
            x={8 + (index + more) * column + column / 2}
            rowHeight={rowHeight}
            runWord={runWord}
          />
        ))}
      </g>
      {rows.slice(begin, last).map((row, offset) => (
        <g
          key={row.id}
          id={`t-${row.id}`}
          data-row={row.id}
          role="option"
          aria-selected={row.id === selected}
          aria-description={spoken(row, runs, runWord)}
          aria-setsize={rows.length}
          aria-posinset={begin + offset + 1}
          class="row"
          transform={`translate(0 ${headHeight + (begin + offset) * rowHeight})`}
          onClick={() => select(row.id)}
        >
          <rect class="ground" x="0" width={width} height={rowHeight} />
          <text class="key" x={gutter} y="16">
            {isNarrow ? partedName(row, most)[0] : fitted(row.key, most)}
          </text>
          <RowBar row={row} pieces={pieces} left={left} />
          <text
            class={isNarrow ? "length under" : "length"}
            x={isNarrow ? gutter : width - 8}
            y={isNarrow ? 31 : 16}
          >
            {row.lane !== "mark"
              ? duration(row.to - row.from)
              : kindBeside(row) || (isNarrow ? partedName(row, most)[1] : "")}
          </text>
        </g>
      ))}
    </svg>
  );
}

const fitted = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;

/** The name of a mark that says what happened, in two lines if it needs them. Others have their length in the second. */
function partedName(row: Row, most: number): readonly [string, string] {
  const { key, lane } = row;
  const end = key.lastIndexOf(" ", most);
  const isParted = lane === "mark" && kindBeside(row) === "" && key.length > most && end > 0;
  return isParted
    ? [key.slice(0, end), key.slice(end + 1).replace("· ", "")]
    : [fitted(key, most), ""];
}

/** What a mark is, unless its name says so. */
const kindBeside = ({ key, what }: Row): string => (key.includes(what) ? "" : what);

function spoken(row: Row, runs: readonly KnownRun[], runWord: string): string {
  const length = row.lane === "mark" ? "" : `, ${duration(row.to - row.from)}`;
  const replays = runs.filter((run) => inRun(row, run) === "replayed").length;
  const replayed =
    replays === 0 ? "" : `, replayed in ${replays} later ${runWord}${replays === 1 ? "" : "s"}`;
  const kind = kindBeside(row);
  return `${kind}${kind && " "}${row.key}${length}${row.isOpen ? ", not over" : ""}${row.isBad ? ", failed" : ""}${replayed}`;
}

/** How much room a time of day takes. */
const clockWidth = 54;

/** The pieces whose time of day has room up to the next one's. */
function timedIn(pieces: readonly Piece[], width: number): ReadonlySet<Piece> {
  let reached = 0;
  return new Set(
    pieces.filter(({ left }) => {
      if (left < reached || left + clockWidth > width) return false;
      reached = left + clockWidth;
      return true;
    }),
  );
}

function PieceGround(props: {
  readonly piece: Piece;
  readonly bottom: number;
  readonly isTimed: boolean;
}): ComponentChild {
  const { piece, bottom, isTimed } = props;
  const { left, width, isServer } = piece;
  const text = duration(piece.to - piece.from);
  return (
    <>
      <rect
        class={isServer ? "piece server" : "piece"}
        x={left}
        y={headHeight - 4}
        width={width}
        height={Math.max(0, bottom - headHeight + 4)}
      />
      {width > text.length * 6.5 + 8 && (
        <text class={isServer ? "tick server" : "tick"} x={left + width / 2} y="30">
          {text}
        </text>
      )}
      {isTimed && (
        <text class="hour" x={left + 2} y="13">
          {clock(piece.from)}
        </text>
      )}
    </>
  );
}

/** One path for each kind of dot, because a task can have hundreds of entries and many runs. */
function RunColumn(props: {
  readonly run: KnownRun;
  readonly rows: readonly Row[];
  readonly x: number;
  readonly rowHeight: number;
  readonly runWord: string;
}): ComponentChild {
  const { run, rows, x, rowHeight, runWord } = props;
  let fresh = "";
  let replayed = "";
  let reached = -1;
  for (const [index, row] of rows.entries()) {
    const state = inRun(row, run);
    if (state === undefined) continue;
    const y = headHeight + index * rowHeight + rowHeight / 2;
    reached = y;
    if (state === "new") fresh += dot(x, y, 4);
    else replayed += dot(x, y, 2.5);
  }
  return (
    <g class={run.isDead ? "run dead" : "run"}>
      <title>{`${runWord} ${run.epoch} on ${run.worker}. ${endOf(run)}`}</title>
      {reached > 0 && <path class="thread" d={`M${x} ${headHeight}V${reached}`} />}
      <path class="replayed" d={replayed} />
      <path class="new" d={fresh} />
      <text x={x} y="30">
        {run.epoch}
      </text>
      {run.isLost && <path class="cross" d={`M${x - 3.5} 9l7 7m0-7l-7 7`} />}
    </g>
  );
}

const dot = (x: number, y: number, r: number): string =>
  `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

function RowBar(props: {
  readonly row: Row;
  readonly pieces: readonly Piece[];
  readonly left: number;
}): ComponentChild {
  const { row, pieces, left } = props;
  const to = left + placeOf(pieces, row.to);
  if (row.lane === "mark") {
    return <path class="bar mark" d={`M${to} 7l5 5-5 5-5-5z`} />;
  }
  const from = left + placeOf(pieces, row.from);
  const classes = ["bar", row.lane, row.isBad ? "bad" : "", row.isOpen ? "open" : ""];
  const width = Math.max(4, to - from);
  const shape = { x: to - width, y: 7, width, height: 10, rx: row.lane === "people" ? 5 : 2 };
  return <rect class={classes.join(" ").trim()} {...shape} />;
}
