// The error that a call ends with.

import type { CallError } from "./errors.ts";

export const failure = (call: Promise<unknown>): Promise<CallError> =>
  call.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );
