// A list that draws only the rows that can be seen. One row is in the tab order; the arrow keys move among the others.

import type { ComponentChild } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface VirtualListProps {
  readonly label: string;
  /** The name of each column, and the class of its cells. */
  readonly columns: readonly (readonly [name: string, cells: string])[];
  readonly count: number;
  /** Whether there are more rows than `count`. They are shown as grey lines until they are read. */
  readonly hasMore: boolean;
  readonly rowHeight: number;
  /** How many lines the longest cell of a row may have. */
  readonly lines: number;
  /** How the rows are laid out: a class. */
  readonly look: string;
  /** The cells of a row. The element with `data-row` takes the focus. */
  readonly row: (index: number, tabIndex: number) => ComponentChild;
  /** The id of a row. When rows are added above, the list stays where the reader is. */
  readonly idAt: (index: number) => string | undefined;
  /** Says which rows can be seen. */
  readonly onSight: (first: number, last: number) => void;
}

/** Rows above and below what can be seen, so that fast scrolling shows no gaps. */
const spare = 12;
/** How many new rows above are looked for. */
const mostAdded = 400;
/** Rows that stand for the ones still to be read. */
const pending = 12;

export function VirtualList(props: VirtualListProps): ComponentChild {
  const {
    label,
    columns,
    count,
    hasMore,
    rowHeight,
    lines,
    look: layout,
    row,
    idAt,
    onSight,
  } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ first: 0, last: 40 });
  const [active, setActive] = useState(0);
  const isMoving = useRef(false);

  const look = () => {
    const element = frame.current;
    if (element === null) return;
    const first = Math.floor(element.scrollTop / rowHeight);
    const last = first + Math.ceil(element.clientHeight / rowHeight);
    setSight((known) => (known.first === first && known.last === last ? known : { first, last }));
    onSight(first, last);
  };
  const first = useRef(idAt(0));
  useLayoutEffect(() => {
    const element = frame.current;
    const known = first.current;
    first.current = idAt(0);
    if (element === null || element.scrollTop === 0 || known === first.current) return;
    for (let added = 1; added < Math.min(count, mostAdded); added++) {
      if (idAt(added) === known) {
        element.scrollTop += added * rowHeight;
        return;
      }
    }
  });
  useLayoutEffect(() => {
    look();
    const observer = new ResizeObserver(look);
    if (frame.current !== null) observer.observe(frame.current);
    return () => observer.disconnect();
  }, [rowHeight, count, hasMore]);
  useLayoutEffect(() => {
    if (!isMoving.current) return;
    isMoving.current = false;
    frame.current?.querySelector<HTMLElement>(`[data-row="${active}"]`)?.focus();
  }, [active]);

  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key]?.(sight.last - sight.first - 1);
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = Math.min(count - 1, Math.max(0, active + step));
    const element = frame.current;
    if (element !== null) {
      const top = to * rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      const bottom = top + rowHeight - element.clientHeight;
      if (bottom > element.scrollTop) element.scrollTop = bottom;
    }
    isMoving.current = true;
    setActive(to);
  };
  const onFocusIn = ({ target }: FocusEvent) => {
    const index = target instanceof HTMLElement ? target.dataset["row"] : undefined;
    if (index !== undefined) setActive(Number(index));
  };

  const all = count + (hasMore ? pending : 0);
  const begin = Math.max(0, sight.first - spare);
  const end = Math.min(all, sight.last + spare);
  const indices = Array.from({ length: Math.max(0, end - begin) }, (_, at) => begin + at);
  // The row with the focus stays, however far the list is scrolled.
  if (active < count && (active < begin || active >= end)) indices.push(active);
  const stop = active < count ? active : 0;
  return (
    <div
      class={`table ${layout}`}
      style={{ "--lines": lines }}
      role="table"
      aria-label={label}
      aria-rowcount={hasMore ? -1 : count + 1}
      onKeyDown={onKeyDown}
      onFocusIn={onFocusIn}
    >
      <div role="rowgroup" class="columns">
        <div role="row" aria-rowindex={1}>
          {columns.map(([name, cells]) => (
            <span key={name} role="columnheader" class={cells}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div class="scroll" role="rowgroup" ref={frame} onScroll={look}>
        <div class="height" role="presentation" style={{ height: `${all * rowHeight}px` }}>
          {indices.map((index) => (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              class="item"
              style={{
                height: `${rowHeight}px`,
                transform: `translateY(${index * rowHeight}px)`,
              }}
            >
              {index < count ? (
                row(index, index === stop ? 0 : -1)
              ) : (
                <span role="cell" class="bone">
                  <span class="unseen">Loading…</span>
                </span>
              )}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

const steps: Readonly<Record<string, (page: number) => number>> = {
  ArrowDown: () => 1,
  ArrowUp: () => -1,
  PageDown: (page) => page,
  PageUp: (page) => -page,
  Home: () => -Infinity,
  End: () => Infinity,
};
