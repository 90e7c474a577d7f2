// What the author has registered, as the rounds see it: tools, and later prompts and resources, behind one
// shape, so that a round need not know which it serves.

import type { HandlerContext } from "./context.ts";

export type Method = "tools/call";

export interface Definition {
  readonly method: Method;
  readonly name: string;
  /** Checks and parses the arguments of the request. */
  readonly parse: (args: unknown) => Parsed | Promise<Parsed>;
  readonly invoke: (input: unknown, ctx: HandlerContext) => unknown;
  /** The wire result for what the handler returned. Throws ParleyError "bad_result" if it is none. */
  readonly toResult: (returned: unknown) => WireResult | Promise<WireResult>;
  /** The wire result that says that it could not be done; undefined where the method has no such thing. */
  readonly toFailure: (message: string) => WireResult | undefined;
}

export type Parsed =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly reason: string };

export interface WireResult {
  readonly [member: string]: unknown;
}
