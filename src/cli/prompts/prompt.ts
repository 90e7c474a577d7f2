// One prompt, and how to leave it: Esc opens a menu to decline or cancel the question. Ctrl-C leaves the call, which can
// be resumed later.

import process from "node:process";
import { isCancel, select } from "@clack/prompts";
import type { CANCEL_SYMBOL } from "@clack/prompts";

/** The person pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** The server withdrew the question. */
export class Withdrawn extends Error {
  override readonly name = "Withdrawn";
}

/** The person declined or cancelled the question. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly action: "decline" | "cancel";

  constructor(action: "decline" | "cancel") {
    super(action);
    this.action = action;
  }
}

/** How a prompt prints, and when it ends without an answer. */
export interface Asking {
  readonly say: (text: string) => void;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

interface Common {
  readonly input: typeof process.stdin;
  readonly output: typeof process.stderr;
  readonly signal: AbortSignal;
}

interface Key {
  readonly ctrl?: boolean;
  readonly name?: string;
}

/** The value that the person entered. Throws `Refused`, `Withdrawn` or `Interrupted` if there is none. */
export async function through<T>(
  asking: Asking,
  prompt: (common: Common) => Promise<T | typeof CANCEL_SYMBOL>,
): Promise<T> {
  for (;;) {
    const { value, isInterrupt } = await prompted(asking, prompt);
    if (!isCancel(value)) return value;
    if (asking.signal.aborted) throw new Withdrawn("The question was withdrawn.");
    if (isInterrupt) throw new Interrupted("Interrupted.");
    const action = await menu(asking);
    if (action !== "back") throw new Refused(action);
  }
}

async function prompted<T>(
  { signal }: Asking,
  prompt: (common: Common) => Promise<T | typeof CANCEL_SYMBOL>,
): Promise<{ readonly value: T | typeof CANCEL_SYMBOL; readonly isInterrupt: boolean }> {
  const { stdin: input, stderr: output } = process;
  // A signal for this prompt only, because a prompt never removes its listener and would print later.
  const leave = new AbortController();
  const onAbort = () => leave.abort();
  signal.addEventListener("abort", onAbort);
  let isInterrupt = false;
  const onKey = (_: unknown, key: Key | undefined) => {
    if (key?.ctrl !== true) return;
    if (key.name === "c") isInterrupt = true;
    // Ctrl-D would close the input of the prompt, so it is treated as Esc.
    if (key.name === "d") input.emit("keypress", undefined, { name: "escape" });
  };
  input.on("keypress", onKey);
  try {
    const value = await prompt({ input, output, signal: leave.signal });
    return { value, isInterrupt };
  } finally {
    input.off("keypress", onKey);
    signal.removeEventListener("abort", onAbort);
  }
}

async function menu(asking: Asking): Promise<"decline" | "cancel" | "back"> {
  const { value, isInterrupt } = await prompted(asking, (common) =>
    select({
      ...common,
      message: "Leave this question?",
      options: [
        { value: "back" as const, label: "Go back" },
        { value: "decline" as const, label: "Decline", hint: "tell the server no" },
        { value: "cancel" as const, label: "Cancel", hint: "dismiss without a decision" },
      ],
    }),
  );
  if (isInterrupt) throw new Interrupted("Interrupted.");
  if (asking.signal.aborted) throw new Withdrawn("The question was withdrawn.");
  return value === "decline" || value === "cancel" ? value : "back";
}

/** Resolves if the person says yes. Throws `Refused` otherwise. Esc leaves the question without a decision. */
export function agree(message: string, asking: Asking): Promise<void> {
  return accept(message, { accept: "Yes", decline: "No" }, asking);
}

/** Resolves if the person accepts. Throws `Refused` otherwise. */
export async function accept(
  message: string,
  labels: { readonly accept: string; readonly decline: string; readonly cancel?: string },
  asking: Asking,
): Promise<void> {
  const { cancel } = labels;
  const action = await through(asking, (common) =>
    select<"accept" | "decline" | "cancel">({
      ...common,
      message,
      options: [
        { value: "accept", label: labels.accept },
        { value: "decline", label: labels.decline },
        ...(cancel === undefined ? [] : [{ value: "cancel" as const, label: cancel }]),
      ],
    }),
  );
  if (action !== "accept") throw new Refused(action);
}
