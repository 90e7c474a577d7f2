// Finds the line of the author's code that used an operation of `ctx`, for messages. It costs a stack trace for each
// operation, so it is done in development only.

import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { onFirstUse } from "../../util/on-first-use.ts";

/**
 * The folder of this library's code. The build merges files, so it is not a fixed number of steps up from here. It is found
 * on first use, because code that was bundled has no folder, and then no place either.
 */
const ourFolder = onFirstUse(() => {
  const [folder] = /^.*[\\/](?:src|dist)[\\/]/.exec(fileURLToPath(import.meta.url)) ?? [];
  return folder ?? "";
});

/** The nearest line of the author's own code, such as `deploy.ts:12`. */
export function callerPlace(): string | undefined {
  try {
    return placeOnStack();
  } catch {
    // The program has replaced how stack traces are made. The message goes out without a place.
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
    if (!path.startsWith(ourFolder()) || isTest(path)) return `${basename(path)}:${lineNumber}`;
  }
  return undefined;
}

// Tests inside our own folder count as author's code.
const isTest = (path: string) => /\.test\.[cm]?[jt]s$/.test(path);
