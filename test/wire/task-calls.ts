// Requests of the tasks extension that are written by hand.

import { onTestFinished, vi } from "vitest";
import type { ParleyOptions } from "mcp-parley";
import { overEntry } from "../entry.ts";
import { oven } from "./oven.ts";
import type { Oven } from "./oven.ts";
import { callTool, envelope, exchange, post } from "./post.ts";
import type { Answer, Envelope, Leg, Sending, To } from "./post.ts";
import { streamOf } from "./stream.ts";
import type { Stream } from "./stream.ts";
import { patience } from "../patience.ts";

export const extension = "io.modelcontextprotocol/tasks";

/** The capabilities of a client that can be asked anything, but cannot follow tasks. */
export const stays = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: {},
};

/** The capabilities of a client that can follow tasks as well. */
export const follows = { ...stays, extensions: { [extension]: {} } };

/** An oven that listens until the test is over. `to` is its address. */
export async function servedOven(
  options?: Partial<ParleyOptions>,
): Promise<Oven & { readonly to: string }> {
  const made = oven(options);
  const { url } = await made.app.listen(0, overEntry());
  onTestFinished(() => made.app.close());
  return { ...made, to: url };
}

/** An oven in this process, with a worker. Requests reach it through `to`, without a port. */
export async function ovenHere(
  options?: Partial<ParleyOptions>,
): Promise<Oven & { readonly to: To }> {
  const made = oven(options);
  await made.app.work();
  onTestFinished(() => made.app.close());
  return { ...made, to: made.app };
}

/** One round of a tool call, by a client that follows tasks. */
export function call(to: To, name: string, args: object = {}, leg: Leg = {}): Promise<Answer> {
  return callTool(to, name, { ...args }, { capabilities: follows, ...leg });
}

/** The id of the task in a response. */
export function taskIdIn({ result, error }: Answer): string {
  const id = result?.["taskId"];
  if (result?.["resultType"] !== "task" || typeof id !== "string") {
    throw new Error(`The call did not become a task: ${JSON.stringify(result ?? error)}`);
  }
  return id;
}

/** Calls a tool that becomes a task at once. */
export async function begun(to: To, name: string, args?: object, leg?: Leg): Promise<string> {
  return taskIdIn(await call(to, name, args, leg));
}

export interface Asking extends Envelope, Sending {
  readonly inputResponses?: unknown;
}

/** Sends `tasks/get`, `tasks/update`, `tasks/cancel`, or another request with a task's id. */
export function ask(
  to: To,
  method: string,
  taskId: unknown,
  { inputResponses, id = 1, capabilities = follows, meta = {}, ...sending }: Asking = {},
): Promise<Answer> {
  const params = { taskId, ...(inputResponses === undefined ? {} : { inputResponses }) };
  return exchange(to, envelope(method, params, { id, capabilities, meta }), sending);
}

export interface Task {
  readonly [member: string]: unknown;
  readonly status: string;
  readonly inputRequests?: Readonly<Record<string, { readonly method: string }>>;
}

/** Polls the task until the condition holds, for at most ten seconds. */
export function until(
  to: To,
  taskId: string,
  isIt: string | ((task: Task) => boolean),
  asking?: Asking,
): Promise<Task> {
  const isSo = typeof isIt === "string" ? ({ status }: Task) => status === isIt : isIt;
  const look = async () => {
    const { result, error } = await ask(to, "tasks/get", taskId, asking);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests look at what it is
    const task = result as Task | undefined;
    if (task !== undefined && isSo(task)) return task;
    throw new Error(`It is ${JSON.stringify(task ?? error)}`);
  };
  return vi.waitFor(look, { ...patience, interval: 10 });
}

/** `subscriptions/listen`, as a stream. */
export async function listen(
  to: To,
  notifications: unknown,
  { id = "L", capabilities = follows, meta = {}, ...sending }: Envelope & Sending = {},
): Promise<Stream> {
  const message = envelope("subscriptions/listen", { notifications }, { id, capabilities, meta });
  return streamOf(await post(to, message, sending));
}

/** The texts of a task's result. */
export function textOf({ result }: Task): string {
  const { content = [] } = (result ?? {}) as { content?: { text: string }[] };
  return content.map(({ text }) => text).join("\n");
}
