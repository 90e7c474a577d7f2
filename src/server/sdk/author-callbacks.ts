// Functions of the author that the SDK calls itself. The SDK sends the client whatever they throw, so this file decides
// first what that is.

import { ProtocolError } from "@modelcontextprotocol/server";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import { failureResponse } from "../round/failure.ts";

/** The same function. What it throws is logged, and reaches the client as a failing handler does. */
export function logged<A extends readonly unknown[], R>(
  core: Core,
  definition: Definition,
  callback: (...args: A) => R | Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return await callback(...args);
    } catch (error) {
      const failure = failureResponse(core, definition, error);
      if (failure.kind !== "error") throw error;
      throw new ProtocolError(failure.code, failure.message, failure.data);
    }
  };
}
