// What operators read from a store: lists of tasks that stay quick however many there are, what waits for people, and the
// history of a task. A store may go without it, and then the console shows single tasks only.

import type { Status, TaskRecord, Sealed, Wait } from "./task.ts";
import type { TaskRun } from "./task-runs.ts";

/** The part of a store that operators read. It changes nothing. */
export interface TaskReader {
  /**
   * Finds tasks, the newest first. Live tasks whose time is up count as failed only after a sweep. The time that it takes
   * does not depend on how many tasks there are.
   */
  readonly find: (query: TaskQuery) => Promise<readonly TaskListing[]>;
  /** What waits for people, the longest first: open questions and deliveries, and no timers. */
  readonly waiting: (query: WaitingQuery) => Promise<readonly OpenWait[]>;
  /** Reads records of a log with what is known about them, from this one on. */
  readonly log: (id: string, from: number, limit: number) => Promise<readonly LoggedRecord[]>;
  /** The newest runs of a task, the oldest of them first. It is empty when there is no such task. */
  readonly runs: (id: string) => Promise<readonly TaskRun[]>;
}

/** A task in a list: everything but its contents. */
export type TaskListing = Omit<TaskRecord, "input" | "result" | "inbox" | "asked">;

/** Which tasks `find` returns. Every condition must hold. */
export interface TaskQuery {
  /** Only tasks with this status. */
  readonly status?: Status | undefined;
  /** Only tasks of this tool. */
  readonly tool?: string | undefined;
  /** Only tasks of this caller. Empty: of calls without a caller. */
  readonly principal?: string | undefined;
  /**
   * Only tasks that do not get on: they have been due for longer than this many milliseconds, they were tried more than
   * once without progress, or their steps could not be undone for as long.
   */
  readonly stuckMs?: number | undefined;
  /** The last task of the previous page. Undefined starts with the newest. */
  readonly after?:
    | {
        /** When it was created. */
        readonly createdAt: number;
        /** Its id. */
        readonly id: string;
      }
    | undefined;
  /** The most tasks to return. */
  readonly limit: number;
}

/** Something that a task waits for. */
export interface OpenWait {
  /** The id of the task. */
  readonly taskId: string;
  /** The name that an answer uses. */
  readonly wire: string;
  /** The key that the handler gave it. */
  readonly key: string;
  /** "question": the client is asked. "external": the answer is delivered from elsewhere. */
  readonly kind: Exclude<Wait["kind"], "timer">;
  /** The tool of the task. */
  readonly tool: string;
  /** The group whose members may answer. Undefined if no group is named. */
  readonly group: string | undefined;
  /** Since when the task waits for it. */
  readonly since: number;
}

/** Which waits `waiting` returns. Every condition must hold. */
export interface WaitingQuery {
  /** Only waits of these groups. An empty text stands for no group. */
  readonly groups?: readonly string[] | undefined;
  /** Only waits of this tool. */
  readonly tool?: string | undefined;
  /** Only waits of this task. */
  readonly taskId?: string | undefined;
  /** The last wait of the previous page. Undefined starts with the longest. */
  readonly after?: Pick<OpenWait, "since" | "taskId" | "wire"> | undefined;
  /** The most waits to return. */
  readonly limit: number;
}

/** A record of a log, and what is known about it. An earlier version has noted nothing. */
export interface LoggedRecord {
  /** Its place in the log. */
  readonly seq: number;
  /** The record. */
  readonly record: Sealed;
  /** The run that wrote it. 0: the call brought it along from its rounds. */
  readonly epoch: number | undefined;
  /** When it was written. */
  readonly at: number | undefined;
  /** How long the body of a step ran, in milliseconds, with its retries. */
  readonly ms: number | undefined;
  /** How many times the body of a step was tried in that run. */
  readonly tries: number | undefined;
}
