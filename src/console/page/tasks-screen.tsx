// All tasks: what they wait for, which of them are stuck and why. The filters are in the address.

import { Component } from "preact";
import type { ComponentChild } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TaskCounts, TaskList, TaskRow } from "../wire.ts";
import { grouped, shortId } from "./format.ts";
import { markOf, StatusMark, wordFor } from "./icons.tsx";
import type { Mark } from "./icons.tsx";
import { isChangeOrTime, useChanges } from "./live-reading.ts";
import { isMedium, isNarrow } from "./narrow.ts";
import { Empty, Heading, Problem, Skeleton, When } from "./parts.tsx";
import { href, refine, route } from "./route.ts";
import { read, Refusal } from "./server.ts";
import { session } from "./frame.tsx";
import { pagesAt, renewed } from "./task-pages.ts";
import type { TaskPage } from "./task-pages.ts";
import { VirtualList } from "./virtual-list.tsx";

const pageLength = 200;

const choices: readonly (Mark | "")[] = [
  "",
  "stuck",
  "working",
  "input_required",
  "completed",
  "failed",
  "cancelled",
];

/** Tasks that wait for others than their client, and tasks that are stuck, are in progress as well. */
const chipWord = (choice: Mark | ""): string =>
  choice === "" ? "All" : choice === "working" ? "In progress" : wordFor(choice);

export function TasksScreen(): ComponentChild {
  const { query } = route.value;
  const tool = query.get("tool") ?? "";
  const principal = query.get("principal") ?? "";
  const isStuck = query.has("stuck");
  const status = isStuck ? "stuck" : (query.get("status") ?? "");
  const filters = new URLSearchParams(query);
  filters.set("limit", String(pageLength));
  const tools = session.value?.tools.map(({ name }) => name) ?? [];
  const isFiltered = tool !== "" || principal !== "" || status !== "";
  return (
    <div class="screen fills">
      <Heading title="Tasks" />
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <fieldset class="chips">
          <legend class="unseen">Status</legend>
          {choices.map((choice) => (
            <label key={choice} class={choice === status ? "chip on" : "chip"}>
              <input
                type="radio"
                name="status"
                checked={choice === status}
                onChange={() =>
                  refine(
                    choice === "stuck" ? { status: "", stuck: "1" } : { status: choice, stuck: "" },
                  )
                }
              />
              {chipWord(choice)}
            </label>
          ))}
        </fieldset>
        <div class="inputs">
          <TextFilter name="tool" label="Tool" value={tool} known={tools} />
          <TextFilter name="principal" label="Principal" value={principal} known={[]} />
        </div>
      </form>
      <TaskTable
        key={filters.toString()}
        filters={filters.toString()}
        isFiltered={isFiltered}
        isStuck={isStuck}
      />
    </div>
  );
}

function TextFilter(props: {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly known: readonly string[];
}): ComponentChild {
  const { name, label, value, known } = props;
  return (
    <label>
      <span>{label}</span>
      <input
        type="search"
        name={name}
        value={value}
        placeholder="Any"
        list={`${name}-list`}
        onChange={({ currentTarget }) => refine({ [name]: currentTarget.value.trim() })}
      />
      <datalist id={`${name}-list`}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  );
}

function TaskTable(props: {
  readonly filters: string;
  readonly isFiltered: boolean;
  readonly isStuck: boolean;
}): ComponentChild {
  const { pages, counts, error, seen, retry } = usePages(props.filters);
  const rows = useMemo(() => pages.flatMap((page) => page.rows), [pages]);
  if (error !== undefined && pages.length === 0) return <Problem refusal={error} retry={retry} />;
  if (pages.length === 0) return <Skeleton lines={14} />;
  if (rows.length === 0) return <NoTasks {...props} />;
  return (
    <>
      <VirtualList
        label="Tasks, the newest first"
        columns={columns}
        {...layoutOf(props.isStuck)}
        count={rows.length}
        hasMore={pages.at(-1)?.next !== undefined}
        idAt={(index) => rows[index]?.id}
        onSight={seen}
        row={(index, tabIndex) => {
          const task = rows[index];
          return task && <TaskCells task={task} index={index} tabIndex={tabIndex} />;
        }}
      />
      <p class="sum">
        {grouped(rows.length)}
        {pages.at(-1)?.next === undefined ? "" : "+"} shown, the newest first
        {counts &&
          ` · ${grouped(counts.live)} live, ${grouped(counts.inputRequired)} ${counts.inputRequired === 1 ? "waits" : "wait"} for the client`}
      </p>
    </>
  );
}

const columns = [
  ["Status", "c-status"],
  ["Task", "c-task"],
  ["Details", "c-why"],
  ["Principal", "c-principal"],
  ["Age", "c-age"],
  ["Changed", "c-changed"],
] as const;

/** A list of what is stuck has room for the whole reason, because that is what it is read for. */
function layoutOf(isStuck: boolean) {
  if (isNarrow.value) {
    const lines = isStuck ? 5 : 2;
    return { look: "", lines, rowHeight: 52 + lines * 18 };
  }
  if (isStuck) return { look: "rows", lines: 3, rowHeight: 88 };
  return isMedium.value
    ? { look: "rows", lines: 2, rowHeight: 64 }
    : { look: "", lines: 2, rowHeight: 46 };
}

function NoTasks(props: { readonly isFiltered: boolean; readonly isStuck: boolean }) {
  if (props.isStuck) {
    return (
      <Empty title="No task is stuck">
        <p>Every task that is due runs, or waits for something that can still come.</p>
      </Empty>
    );
  }
  if (props.isFiltered) {
    return (
      <Empty title="No task matches">
        <p>
          <a href={href(["tasks"])}>Show all tasks</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No tasks yet">
      <p>
        A call becomes a task when its tool has <code>task</code> in its config and calls{" "}
        <code>ctx.background()</code>. It then appears here, with all that it waits for.
      </p>
    </Empty>
  );
}

interface CellsProps {
  readonly task: TaskRow;
  readonly index: number;
  readonly tabIndex: number;
}

/** The cells of a row. Scrolling draws the list again with every frame, but not the rows that were there. */
class TaskCells extends Component<CellsProps> {
  override shouldComponentUpdate(next: CellsProps): boolean {
    const { task, index, tabIndex } = this.props;
    return next.task !== task || next.index !== index || next.tabIndex !== tabIndex;
  }

  override render({ task, index, tabIndex }: CellsProps): ComponentChild {
    const mark = markOf(task);
    return (
      <>
        <span role="cell" class="c-status">
          <StatusMark mark={mark} />
        </span>
        <span role="cell" class="c-task">
          <a href={href(["tasks", task.id])} data-row={index} tabIndex={tabIndex}>
            {task.tool}
          </a>{" "}
          <code>{shortId(task.id)}</code>
        </span>
        <span role="cell" class="c-why">
          {task.why ?? task.statusMessage ?? ""}
        </span>
        <span role="cell" class="c-principal">
          {task.principal ?? ""}
        </span>
        <span role="cell" class="c-age">
          <When at={task.createdAt} isAge />
        </span>
        <span role="cell" class="c-changed">
          <When at={task.updatedAt} />
        </span>
      </>
    );
  }
}

interface Pages {
  readonly pages: readonly TaskPage[];
  readonly counts: TaskCounts | undefined;
  readonly error: Refusal | undefined;
  /** Reads what can be seen, if it is not there yet. */
  readonly seen: (first: number, last: number) => void;
  readonly retry: () => void;
}

function usePages(filters: string): Pages {
  const [pages, setPages] = useState<readonly TaskPage[]>([]);
  const [counts, setCounts] = useState<TaskCounts>();
  const [error, setError] = useState<Refusal>();
  const sight = useRef({ first: 0, last: 40 });
  const known = useRef(pages);
  known.current = pages;
  const isReading = useRef(false);

  const readPage = async (after: string | undefined): Promise<TaskPage> => {
    const cursor = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
    const list = await read<TaskList>(`api/tasks?${filters}${cursor}`);
    setCounts(list.counts);
    return { after, rows: list.tasks, next: list.next };
  };
  const inTurn = async (work: () => Promise<void>) => {
    if (isReading.current) return;
    isReading.current = true;
    try {
      await work();
      setError(undefined);
    } catch (thrown) {
      setError(thrown instanceof Refusal ? thrown : new Refusal(0, "unknown", String(thrown)));
    } finally {
      isReading.current = false;
    }
  };
  /** Reads on until the pages reach beyond what can be seen. */
  const readOn = () =>
    inTurn(async () => {
      for (;;) {
        const last = known.current.at(-1);
        const length = known.current.reduce((sum, { rows }) => sum + rows.length, 0);
        const isEnough = length > sight.current.last + pageLength / 2;
        if (last !== undefined && (last.next === undefined || isEnough)) return;
        const page = await readPage(last?.next);
        known.current = [...known.current, page];
        setPages(known.current);
      }
    });
  const renew = () =>
    inTurn(async () => {
      const { first, last } = sight.current;
      for (const index of pagesAt(known.current, first, last)) {
        const page = known.current[index];
        if (page === undefined) continue;
        const fresh = renewed(page, await readPage(page.after));
        known.current = known.current.with(index, fresh);
        setPages(known.current);
      }
    });

  useEffect(() => void readOn(), []);
  useChanges(
    isChangeOrTime,
    () => void (known.current.length === 0 || isBare(known.current) ? reread() : renew()),
  );
  const reread = () =>
    inTurn(async () => {
      known.current = [await readPage(undefined)];
      setPages(known.current);
    });
  return {
    pages,
    counts,
    error,
    seen: (first, last) => {
      sight.current = { first, last };
      void readOn();
    },
    retry: () => void readOn(),
  };
}

/** Whether all that there is fits one page. It is read as a whole then. */
const isBare = (pages: readonly TaskPage[]): boolean =>
  pages.length === 1 && pages[0]?.next === undefined;
