// What the author has registered, as rounds see it. Tools, prompts and resources share one shape, so that a round need not
// know which of them it serves.

import type { ExtensionId } from "../../protocol/capabilities.ts";
import type { HandlerContext } from "../context/handler-context.ts";
import type { NamedRule } from "../approvals/rules.ts";
import type { RequiredAbility } from "./abilities.ts";

type DefinitionMethod = "tools/call" | "prompts/get" | "resources/read";

/** Whether a tool may become a task. "optional": any client can call the tool. "required": only clients that can follow a task. */
export type TaskMode = "optional" | "required";

/** The types that a handle carries for the test kit. */
export interface HandleTypes<In, Out = unknown> {
  /** The type of the arguments. */
  readonly in: In;
  /** The type of the structured result. */
  readonly out: Out;
}

/** A registered tool, prompt or resource. */
export interface Definition {
  readonly method: DefinitionMethod;
  readonly name: string;
  /** Set if calls may become tasks. */
  readonly task?: TaskMode | undefined;
  /** A round that is sent again gets the recorded response (R14). */
  readonly once?: boolean | undefined;
  /** A tool of the author's own SDK server, which asks through the SDK and has no `ctx`. */
  readonly isAdopted?: boolean | undefined;
  /** A tool of Parley's own. */
  readonly isOwn?: boolean | undefined;
  /** The tool has an `outputSchema`. */
  readonly hasOutput?: boolean | undefined;
  /** Hosts that render MCP Apps show this tool's questions as a form inside the conversation. */
  readonly ui?: "form" | undefined;
  /** What a client must be able to do. A call of any other client is refused before anything runs. */
  readonly requires?: readonly (RequiredAbility | ExtensionId)[] | undefined;
  /** Checks and parses the target and the arguments of a request. `url` is the target if it is a URI that was parsed before. */
  readonly parse: (target: string, args: unknown, url?: URL) => Parsed | Promise<Parsed>;
  /** What is asked before the handler runs, as the tool's config says. */
  readonly approval?: NamedRule | undefined;
  readonly invoke: (input: unknown, ctx: HandlerContext) => unknown;
  /** Turns what the handler returned into a wire result. Throws ParleyError "bad_result" for anything else. */
  readonly toResult: (returned: unknown, target: string) => WireResult | Promise<WireResult>;
  /** A wire result that reports a failure. Undefined if the method has no such result. */
  readonly toFailure: (message: string) => WireResult | undefined;
}

/** The parsed arguments, or why they do not fit. */
export type Parsed =
  | { readonly ok: true; readonly input: unknown }
  | { readonly ok: false; readonly reason: string };

/** The members of a result on the wire. */
export interface WireResult {
  readonly [member: string]: unknown;
}
