// What is looked at in development only: it costs a stack trace an operation, and on Node 20 makes every
// await dearer.

import { AsyncLocalStorage } from "node:async_hooks";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Nesting } from "../../replay/carrier.ts";

/** The folder of this library's code. The build merges files, so it is not a fixed number of steps up from here. */
const [ourFolder = ""] = /^.*[\\/](?:src|dist)[\\/]/.exec(fileURLToPath(import.meta.url)) ?? [];

/** From Node 24 on, following an asynchronous context costs next to nothing. */
export const isNestingFree: boolean = Number(process.versions.node.split(".")[0]) >= 24;

/** The nearest line of the author's own code, as `deploy.ts:12`. */
export function callerPlace(): string | undefined {
  try {
    return placeOnStack();
  } catch {
    // Somebody has replaced how stacks are made. A message without a place is still one.
    return undefined;
  }
}

function placeOnStack(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const { stack = "" } = new Error("only its stack is used");
  Error.stackTraceLimit = stackTraceLimit;
  for (const line of stack.split("\n").slice(1)) {
    const [, file, lineNumber] = /\(?((?:file:\/\/)?[^()\s]+):(\d+):\d+\)?$/.exec(line) ?? [];
    if (file === undefined || file.startsWith("node:")) continue;
    const path = file.startsWith("file:") ? fileURLToPath(file) : file;
    if (!path.startsWith(ourFolder) || isTest(path)) return `${basename(path)}:${lineNumber}`;
  }
  return undefined;
}

// Our own tests are authors, too.
const isTest = (path: string) => /\.test\.[cm]?[jt]s$/.test(path);

const storage = new AsyncLocalStorage<{ readonly owner: object; readonly step: string }>();

/**
 * Follows a step's body across its awaits, so that a question asked in it is noticed. Each run has its own:
 * a body may well call another tool of this process.
 */
export function bodyNesting(): Nesting {
  const owner = {};
  return {
    run: (step, body) => storage.run({ owner, step }, body),
    current: () => {
      const store = storage.getStore();
      return store?.owner === owner ? store.step : undefined;
    },
  };
}
