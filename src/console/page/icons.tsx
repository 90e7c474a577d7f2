// The few shapes that the console draws. A status has its own shape, so that it can be told apart without colour.

import type { ComponentChild } from "preact";
import type { TaskRow } from "../wire.ts";

const shapes = {
  inbox: "M2 9l2-6h8l2 6v4H2zm0 0h3.5l1 2h3l1-2H14",
  tasks: "M2 4h1.5M6 4h8M2 8h1.5M6 8h8M2 12h1.5M6 12h8",
  calls: "M2 5h10M9 2l3 3-3 3M14 11H4M7 8l-3 3 3 3",
  health: "M1 8h3.5L6 4l3 8 1.7-4H15",
  try: "M4 2.5v11l9-5.5z",
  back: "M10 3L5 8l5 5",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5l3.5 3.5L13 4.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
} as const;

/** A drawing of 16 by 16. It says nothing to a screen reader, because a word always stands beside it. */
export function Icon({ name }: { readonly name: keyof typeof shapes }): ComponentChild {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}

/** A status: its shape and colour. "stuck" is a task that does not run although it should. */
export type Mark =
  | "working"
  | "input_required"
  | "completed"
  | "failed"
  | "cancelled"
  | "stuck"
  | "waiting"
  | "refused"
  | "task";

const marks: Readonly<Record<Mark, ComponentChild>> = {
  working: [<circle cx="6" cy="6" r="4.5" />, <path class="fill" d="M6 1.5a4.5 4.5 0 0 1 0 9z" />],
  input_required: <path d="M6 1l5 5-5 5-5-5z" />,
  waiting: <path d="M6 1l5 5-5 5-5-5z" />,
  completed: <path d="M1.5 6.5l3 3 6-7" />,
  failed: <path d="M2 2l8 8M10 2l-8 8" />,
  refused: <path d="M3.8 1h4.4L11 3.8v4.4L8.2 11H3.8L1 8.2V3.8zM4 6h4" />,
  cancelled: [<circle cx="6" cy="6" r="4.5" />, <path d="M3 9l6-6" />],
  stuck: <path class="fill" d="M6 .8l5.6 10.4H.4zM5.4 4.4v3.4h1.2V4.4zm0 4.4v1.2h1.2V8.8z" />,
  task: <path d="M1.5 3h9M1.5 6h9M1.5 9h9" />,
};

const words: Readonly<Record<Mark, string>> = {
  working: "Working",
  input_required: "Client asked",
  waiting: "Waiting",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  refused: "Refused",
  stuck: "Stuck",
  task: "Became a task",
};

/** The name of a status, for people. */
export const wordFor = (mark: Mark): string => words[mark];

/** The mark of a task. The protocol calls a task that waits for others than its client "working", too. */
export function markOf(task: TaskRow): Mark {
  if (task.isStuck === true) return "stuck";
  const isWaiting = task.status === "working" && task.worker === undefined && task.waits.length > 0;
  return isWaiting ? "waiting" : task.status;
}

/** A status as shape and word. */
export function StatusMark({ mark }: { readonly mark: Mark }): ComponentChild {
  return (
    <span class={`status ${mark}`}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {marks[mark]}
      </svg>
      {words[mark]}
    </span>
  );
}
