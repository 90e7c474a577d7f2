// What a call ended with instead of a result.

import type { CallError } from "./errors.ts";

export const failure = (call: Promise<unknown>): Promise<CallError> =>
  call.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );
