// One task: what it waits for, its timeline with the runs, and everything about the entry that is selected.

import type { ComponentChild } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type {
  EntryFacts,
  RerunRequest,
  TaskDetails,
  TaskLog,
  TaskOutcome,
  TaskRow,
} from "../wire.ts";
import { isObject } from "../../util/objects.ts";
import { loggedPart } from "../../util/short-id.ts";
import { AuditTable } from "./audit-table.tsx";
import { confirmed } from "./confirm.tsx";
import { EntryDetails } from "./entry-details.tsx";
import { count, duration, size } from "./format.ts";
import { session } from "./frame.tsx";
import { Icon, markOf, StatusMark } from "./icons.tsx";
import { isChangeOrTime, isOffline, now, useReading } from "./live-reading.ts";
import { Copyable, Facts, Heading, JsonText, Problem, Skeleton, When } from "./parts.tsx";
import { go, href } from "./route.ts";
import { begunText, lossText } from "./run-ends.ts";
import { RunTable } from "./run-table.tsx";
import { post, read, Refusal } from "./server.ts";
import { timelineOf } from "./timeline-model.ts";
import type { Timeline } from "./timeline-model.ts";
import { TimelineView } from "./timeline-view.tsx";

export function TaskScreen({ id }: { readonly id: string }): ComponentChild {
  const address = `api/tasks/${encodeURIComponent(id)}`;
  const { data, error, reload } = useReading<TaskDetails>(
    address,
    (line) => isChangeOrTime(line) && (line.type !== "task" || line.id === id),
  );
  const rest = useRest(address, data);
  const [problem, setProblem] = useState<Refusal>();
  const act: Act = async (path, body) => {
    setProblem(undefined);
    try {
      return await post<TaskOutcome>(`${address}/${path}`, body);
    } catch (thrown) {
      setProblem(thrown instanceof Refusal ? thrown : new Refusal(0, "unknown", String(thrown)));
      return undefined;
    } finally {
      reload();
    }
  };
  return (
    <div class="screen">
      <a class="back" href={href(["tasks"])}>
        <Icon name="back" /> Tasks
      </a>
      <Heading title={data?.task.tool ?? "Task"}>
        {data !== undefined && <StatusMark mark={markOf(data.task)} />}
        {data?.mayCancel === true && isLive(data.task) && (
          <button
            type="button"
            class="push"
            disabled={isOffline()}
            onClick={() => void cancel(data.task.tool, act)}
          >
            Cancel the task
          </button>
        )}
      </Heading>
      {problem && <Problem refusal={problem} />}
      {data !== undefined ? (
        <Loaded details={data} rest={rest} act={act} />
      ) : error !== undefined ? (
        <Problem refusal={error} retry={reload} />
      ) : (
        <Skeleton lines={12} tall />
      )}
    </div>
  );
}

const isLive = ({ status }: Pick<TaskRow, "status">): boolean =>
  status === "working" || status === "input_required";

/** The entries after the first page of the log. The log only grows, so what was read stays. */
function useRest(address: string, details: TaskDetails | undefined): readonly EntryFacts[] {
  const [rest, setRest] = useState<readonly EntryFacts[]>([]);
  const length = details?.task.logLength ?? 0;
  useEffect(() => setRest([]), [address]);
  useEffect(() => {
    if (details?.more === undefined) return;
    const abort = new AbortController();
    const readOn = async () => {
      let all = rest;
      let from: number | undefined = all.at(-1)?.seq === undefined ? details.more : lastOf(all) + 1;
      while (from !== undefined && from < length) {
        const page: TaskLog = await read<TaskLog>(
          `${address}/log?from=${from}&limit=500`,
          abort.signal,
        );
        if (page.entries.length === 0) return;
        all = [...all, ...page.entries];
        setRest(all);
        from = page.more;
      }
    };
    // What could not be read is read with the next change.
    readOn().catch(() => {});
    return () => abort.abort();
  }, [address, details?.more, length]);
  return rest;
}

const lastOf = (entries: readonly EntryFacts[]): number => entries.at(-1)?.seq ?? 0;

interface LoadedProps {
  readonly details: TaskDetails;
  readonly rest: readonly EntryFacts[];
  readonly act: Act;
}

function Loaded({ details, rest, act }: LoadedProps): ComponentChild {
  const { task, runs, waits } = details;
  const isOver = !isLive(task);
  // Bars that are not over grow, but not so often that the drawing keeps the page busy.
  const time = isOver ? task.updatedAt : Math.floor(now.value / 5000) * 5000;
  const entries = useMemo(() => [...details.entries, ...rest], [details, rest]);
  const timeline = useMemo(
    () =>
      timelineOf({
        entries,
        runs,
        waits,
        audit: details.audit,
        createdAt: task.createdAt,
        updatedAt: task.updatedAt,
        isOver,
        now: time,
      }),
    [details, entries, time],
  );
  const [selected, select] = useState<string>();
  const row = timeline.rows.find(({ id }) => id === selected);
  return (
    <>
      <Verdict details={details} entries={entries} timeline={timeline} />
      <Facts
        facts={[
          ["Task", <Copyable text={task.id} what="the id of the task" />],
          ["Call", <code>{task.callId}</code>],
          ["Principal", task.principal],
          ["Created", <When at={task.createdAt} hasFocus />],
          ["Changed", <When at={task.updatedAt} hasFocus />],
          ["Worker", task.worker],
          ["Log", `${count(task.logLength, "entry", "entries")}, ${size(task.logBytes)}`],
          [
            // While it goes on, nothing is undone.
            isOver ? "Still to undo" : "Can be undone",
            task.undos === 0 ? undefined : count(task.undos, "step"),
          ],
          ["Run again from", details.linked?.from && <Linked id={details.linked.from.task} />],
          ["Run again as", details.linked?.to?.map(({ task: id }) => <Linked key={id} id={id} />)],
        ]}
      />
      <div class="beside">
        <section aria-labelledby="timeline-title">
          <TimelineView timeline={timeline} runWord="run" selected={selected} select={select} />
        </section>
        <EntryDetails
          row={row}
          timeline={timeline}
          runWord="run"
          {...(details.mayRerun && row?.entry !== undefined
            ? { rerun: () => void rerun(row.entry?.seq ?? 0, act) }
            : undefined)}
        />
      </div>
      <RunTable timeline={timeline} />
      <Values details={details} />
      <section>
        <h2>Audit record</h2>
        <AuditTable records={details.audit} isOfTask />
      </section>
    </>
  );
}

const Linked = ({ id }: { readonly id: string }) => <a href={href(["tasks", id])}>{id}</a>;

type Act = (path: string, body: object) => Promise<TaskOutcome | undefined>;

async function cancel(tool: string, act: Act): Promise<void> {
  const isWanted = await confirmed({
    title: `Cancel this task of ${tool}?`,
    text: "It stops where it is and cannot be resumed. Steps that have an undo are undone.",
    verb: "Cancel the task",
    isGrave: true,
  });
  if (isWanted) await act("cancel", {});
}

async function rerun(seq: number, act: Act): Promise<void> {
  const isWanted = await confirmed({
    title: `Run again from entry ${seq}?`,
    text: "A new task begins with the entries before this one. Everything after them runs again with new idempotency keys, so its effects can happen twice.",
    verb: "Run again",
    isGrave: true,
  });
  if (!isWanted) return;
  const made = await act("rerun", { from: seq } satisfies RerunRequest);
  if (made !== undefined) go(["tasks", made.task]);
}

/** One sentence that says how the task stands, and a bar that says whose time it took. */
function Verdict(props: {
  readonly details: TaskDetails;
  readonly entries: readonly EntryFacts[];
  readonly timeline: Timeline;
}): ComponentChild {
  const { details, entries, timeline } = props;
  const { task } = details;
  const { runs, serverMs, peopleMs, lostMs, otherMs, isMixed, from, to } = timeline;
  const total = Math.max(1, to - from);
  const lost = runs.findLast(({ isLost }) => isLost);
  const run = runs.at(-1);
  const parts = [
    ["server", "server", serverMs],
    // What is not known to be people's time may be it all the same.
    ...(isMixed && peopleMs === 0 ? [] : [["people", "people", peopleMs] as const]),
    ["clock", isMixed ? "people, timers and queues" : "timers and queues", otherMs],
    ...(lost === undefined
      ? []
      : [["lost", "after the last record of a lost run", lostMs] as const]),
  ] as const;
  return (
    <div class={task.isStuck === true ? "verdict stuck" : "verdict"}>
      <p>
        {task.why ?? task.statusMessage ?? endOf(details)}
        {/* What does not get on says so itself. */}
        {task.cause !== undefined && task.why?.includes(task.cause) !== true && (
          <> The last run failed: {task.cause}</>
        )}
      </p>
      {lost !== undefined && (
        <p class={lost.isDead ? "bad" : "soft"}>{lossText(lost, runs, entries, !isLive(task))}</p>
      )}
      {run?.isOpen === true && (
        <UnderWay
          task={task}
          entries={entries}
          worker={run.leaseEndedAt === undefined ? run.worker : undefined}
        />
      )}
      <div class="shares" aria-hidden="true">
        {parts.map(([lane, , ms]) =>
          ms < 1 ? undefined : (
            <span key={lane} class={lane} style={{ flexGrow: Math.max(0.02, ms / total) }} />
          ),
        )}
      </div>
      <p class="legend">
        {parts.map(([lane, word, ms]) => (
          <span key={lane}>
            <i class={lane} /> {word} <b>{duration(ms)}</b>
          </span>
        ))}
      </p>
    </div>
  );
}

/**
 * What is known of a run that has not ended. Steps are recorded when they end, so one that is tried again and again is not
 * in the log.
 */
function UnderWay(props: {
  readonly task: TaskRow;
  readonly entries: readonly EntryFacts[];
  /** Undefined if its lease has ended. */
  readonly worker: string | undefined;
}): ComponentChild {
  const { task, entries, worker } = props;
  const recordedAt = entries.findLast(({ at }) => at !== undefined)?.at;
  return (
    <p class="soft">
      {task.why !== undefined && task.statusMessage !== undefined && (
        <>Its last message: “{task.statusMessage}”. </>
      )}
      {begunText(entries)}{" "}
      {recordedAt === undefined ? (
        "Nothing is recorded yet."
      ) : (
        <>
          Its last record is from <When at={recordedAt} hasFocus />.
        </>
      )}
      {worker !== undefined && (
        <>
          {" "}
          A step is recorded when it ends, after its last attempt. The log of {worker} has the
          attempts that failed: search for <code>{loggedPart(task.id)}</code>.
        </>
      )}
    </p>
  );
}

function endOf({ task, audit }: TaskDetails): string {
  switch (task.status) {
    case "completed":
      return isObject(task.result) && task.result["isError"] === true
        ? "It has completed, and its result is an error."
        : "It has completed.";
    case "failed":
      return "It has failed.";
    case "cancelled": {
      const record = audit.findLast(({ action }) => action === "call_cancelled");
      const who = record?.who ?? record?.principal;
      return who === undefined ? "It was cancelled." : `It was cancelled by ${who}.`;
    }
    case "working":
    case "input_required":
      return "It runs.";
  }
}

function Values({ details }: { readonly details: TaskDetails }): ComponentChild {
  const { input, result, missingKey } = details.task;
  const { values = true, hasKeys = true } = session.value ?? {};
  if (!hasKeys || missingKey !== undefined) {
    return (
      <p class="soft">
        {hasKeys
          ? `This task is sealed with the key "${missingKey}", which this console does not have. So its entries and values cannot be shown.`
          : "Without the keys, arguments, answers and results cannot be shown."}
      </p>
    );
  }
  if (!values) return <p class="soft">Arguments, answers and results are not shown to you.</p>;
  if (input === undefined && result === undefined) return undefined;
  return (
    <section class="pair">
      {input !== undefined && (
        <div>
          <h2>Arguments</h2>
          <JsonText value={input} label="Arguments" />
        </div>
      )}
      {result !== undefined && (
        <div>
          <h2>Result</h2>
          <JsonText value={result} label="Result" />
        </div>
      )}
    </section>
  );
}
