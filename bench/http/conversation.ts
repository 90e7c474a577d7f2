// Makes one call and checks it closely: every round must ask what it should, and the result must be correct. The messages
// become the legs that are then repeated thousands of times and compared as texts.

import { accept, envelope, messagesIn } from "../../test/wire/post.ts";
import type { Incoming, Message } from "../../test/wire/post.ts";
import type { Connection, Response } from "./connection.ts";
import { written } from "./leg.ts";
import type { Leg, Parts } from "./leg.ts";
import { answer } from "./workloads.ts";
import type { Workload } from "./workloads.ts";

/** The protocol version. SDK v1 speaks the older one. */
export type Revision = "2026-07-28" | "2025-11-25";

export interface Conversation {
  readonly legs: readonly Leg[];
  /** Each leg as it was sent and received. */
  readonly said: readonly {
    readonly head: string;
    readonly request: string;
    readonly response: string;
  }[];
}

type Result = NonNullable<Incoming["result"]>;

/** Throws if anything differs from the workload. */
export async function converse(
  connection: Connection,
  workload: Workload,
  revision: Revision,
): Promise<Conversation> {
  const legs: Leg[] = [];
  const said: Conversation["said"][number][] = [];
  let more: Readonly<Record<string, unknown>> = {};
  let state: string | undefined;
  for (const questions of [...workload.questions, undefined]) {
    const message = messageOf(workload, revision, legs.length, more);
    const head = headOf(message, revision);
    const request = JSON.stringify(message);
    const response = await exchanged(
      connection,
      written({ head, request: [request], response: [""] }, ""),
    );
    const result = resultIn(response, legs.length);
    const asked = questions === undefined ? undefined : questionsIn(result, questions);
    if (asked === undefined) check(result, workload.text);
    const next = asked && stateOf(result);
    legs.push({ head, request: gapped(request, state), response: gapped(response.body, next) });
    said.push({ head, request, response: response.body });
    state = next;
    const { requestState } = result;
    more = { ...(requestState === undefined ? {} : { requestState }), inputResponses: asked };
  }
  return { legs, said };
}

/** The same texts without a gap, for the bare server. */
export function fixed({ said }: Conversation): readonly Leg[] {
  return said.map(({ head, request, response }) => ({
    head,
    request: [request],
    response: [response],
  }));
}

/** Repeats one leg, always with the same state, because a token can be used more than once. */
export function repeated({ said, legs }: Conversation, at: number): readonly Leg[] {
  const [leg, one] = [legs[at], said[at]];
  if (leg === undefined || one === undefined) throw new Error(`There is no leg ${at}.`);
  return [{ ...leg, request: [one.request] }];
}

/** All legs, each always with the same state. */
export const recorded = (conversation: Conversation): readonly Leg[] =>
  conversation.legs.flatMap((_, at) => repeated(conversation, at));

function messageOf(
  { method, params }: Workload,
  revision: Revision,
  id: number,
  more: Readonly<Record<string, unknown>>,
): Message {
  return revision === "2025-11-25"
    ? { jsonrpc: "2.0", id, method, params }
    : envelope(method, { ...params, ...more }, { id });
}

function headOf({ method, params }: Message, revision: Revision): string {
  const lines = [
    "POST /mcp HTTP/1.1",
    "host: 127.0.0.1",
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `mcp-protocol-version: ${revision}`,
  ];
  if (revision === "2026-07-28") {
    lines.push(`mcp-method: ${method}`, `mcp-name: ${String(params["name"] ?? params["uri"])}`);
  }
  return `${lines.join("\r\n")}\r\n`;
}

function exchanged(connection: Connection, request: string): Promise<Response> {
  return new Promise((resolve) => connection.send(request, resolve));
}

function resultIn({ status, head, body }: Response, id: number): Result {
  const isStream = /\r\ncontent-type: text\/event-stream/i.test(head);
  const [message, ...others] = messagesIn(isStream ? body : `data: ${body}`);
  if (status !== "200" || message?.id !== id || message.result === undefined || others.length > 0) {
    throw new Error(`Wrong response: ${status} ${body.slice(0, 400)}`);
  }
  return message.result;
}

interface Question {
  readonly params?: { readonly requestedSchema?: { readonly properties?: object } };
}

/** The answers to the questions of a round. */
function questionsIn(result: Result, count: number): Readonly<Record<string, unknown>> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked below
  const asked = Object.entries((result["inputRequests"] ?? {}) as Record<string, Question>);
  if (result["resultType"] !== "input_required" || asked.length !== count) {
    throw new Error(`Expected ${count} questions: ${JSON.stringify(result).slice(0, 400)}`);
  }
  return Object.fromEntries(
    asked.map(([key, { params }]) => {
      const fields = Object.keys(params?.requestedSchema?.properties ?? {});
      return [key, accept(Object.fromEntries(fields.map((field) => [field, answer])))];
    }),
  );
}

/** The state as it appears in the texts. tmcp's state is JSON, so it is escaped there. A round may have no state. */
const stateOf = ({ requestState }: Result): string | undefined =>
  requestState === undefined ? undefined : JSON.stringify(requestState).slice(1, -1);

function check(result: Result, text: string): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked below
  const content = (result["content"] ?? result["contents"]) as readonly {
    readonly text?: string;
  }[];
  if (content?.[0]?.text !== text || content.length !== 1 || result["isError"] === true) {
    throw new Error(`Expected "${text}": ${JSON.stringify(result).slice(0, 400)}`);
  }
}

function gapped(text: string, state: string | undefined): Parts {
  if (state === undefined) return [text];
  const at = text.indexOf(`"${state}"`);
  if (at < 0) throw new Error("The state is not in the text.");
  return [text.slice(0, at + 1), text.slice(at + 1 + state.length)];
}
