// What the author has registered, as the rounds see it: tools, prompts and resources behind one shape, so
// that a round need not know which it serves.

import type { HandlerContext } from "../context/context.ts";

type Method = "tools/call" | "prompts/get" | "resources/read";

/** "required": only for clients that can follow a task. */
export type TaskMode = "optional" | "required";

export interface Definition {
  readonly method: Method;
  readonly name: string;
  /** May become a task. */
  readonly task?: TaskMode | undefined;
  /** A round sent again gets the recorded response (R14). */
  readonly once?: boolean | undefined;
  /** Checks and parses what the request names and brings along. */
  readonly parse: (target: string, args: unknown) => Parsed | Promise<Parsed>;
  readonly invoke: (input: unknown, ctx: HandlerContext) => unknown;
  /** The wire result for what the handler returned. Throws ParleyError "bad_result" if it is none. */
  readonly toResult: (returned: unknown, target: string) => WireResult | Promise<WireResult>;
  /** The wire result that says that it could not be done; undefined where the method has no such thing. */
  readonly toFailure: (message: string) => WireResult | undefined;
}

export type Parsed =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly reason: string };

export interface WireResult {
  readonly [member: string]: unknown;
}
