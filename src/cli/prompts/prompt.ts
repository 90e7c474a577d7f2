// One prompt, and the ways out of it: Esc leads to a menu where the question can be declined or cancelled; Ctrl-C leaves,
// and the call can be gone on with later.

import process from "node:process";
import { isCancel, select } from "@clack/prompts";
import type { CANCEL_SYMBOL } from "@clack/prompts";

/** Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** The server no longer wants to know. */
export class Withdrawn extends Error {
  override readonly name = "Withdrawn";
}

export class Refused extends Error {
  override readonly name = "Refused";
  readonly action: "decline" | "cancel";

  constructor(action: "decline" | "cancel") {
    super(action);
    this.action = action;
  }
}

export interface Asking {
  readonly say: (text: string) => void;
  /** Aborts when nobody waits for the answer any more. */
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

/** The value; else it is thrown what happened instead. */
export async function through<T>(
  asking: Asking,
  prompt: (common: Common) => Promise<T | typeof CANCEL_SYMBOL>,
): Promise<T> {
  for (;;) {
    const { value, isInterrupt } = await prompted(asking, prompt);
    if (!isCancel(value)) return value;
    if (asking.signal.aborted) throw new Withdrawn("The question is no longer asked.");
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
  // One of its own: a prompt listens for ever, and would write when the others are long gone.
  const leave = new AbortController();
  const onAbort = () => leave.abort();
  signal.addEventListener("abort", onAbort);
  let isInterrupt = false;
  const onKey = (_: unknown, key: Key | undefined) => {
    if (key?.ctrl !== true) return;
    if (key.name === "c") isInterrupt = true;
    // It would close the input under the prompt; here it is another Esc.
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
        { value: "back" as const, label: "Back to it" },
        { value: "decline" as const, label: "Decline", hint: "the server is told: no" },
        { value: "cancel" as const, label: "Cancel", hint: "the server is told: dismissed" },
      ],
    }),
  );
  if (isInterrupt) throw new Interrupted("Interrupted.");
  if (asking.signal.aborted) throw new Withdrawn("The question is no longer asked.");
  return value === "decline" || value === "cancel" ? value : "back";
}

/** Throws what the person chose instead. */
export async function accept(message: string, yes: string, asking: Asking): Promise<void> {
  const action = await through(asking, (common) =>
    select({
      ...common,
      message,
      options: [
        { value: "accept" as const, label: yes },
        { value: "decline" as const, label: "Decline" },
        { value: "cancel" as const, label: "Cancel" },
      ],
    }),
  );
  if (action !== "accept") throw new Refused(action);
}
