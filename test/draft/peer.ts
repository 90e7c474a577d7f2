// A hand-written client of the draft, over HTTP and over the standard streams of a process.

import { parseJSONRPCMessage } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { vi } from "vitest";
import { stdioPlace } from "../interop/stdio-place.ts";
import { messagesIn } from "../wire/post.ts";
import type { To } from "../wire/post.ts";
import { patience } from "../patience.ts";

export const draftVersion = "2026-06-XX";
const relatedTask = "io.modelcontextprotocol/related-task";

type Members = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly id?: unknown;
  readonly result?: Members;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Members };
  /** The notifications that came before the response. */
  readonly notifications?: readonly Members[];
}

export interface DraftPeer {
  readonly ask: (method: string, params?: object) => Promise<Answer>;
  /** The response to `initialize`. */
  readonly opened: Answer;
}

/** The capabilities of a client that can be asked anything. */
export const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

const hello = (capabilities: object) => ({
  protocolVersion: draftVersion,
  capabilities,
  clientInfo: { name: "by hand", version: "1.0.0" },
});

// ---------------------------------------------------------------- over HTTP

export interface Posted {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Posts one message with the headers of the draft. Pass others to replace them, or undefined to leave one out. */
export async function postDraft(
  to: To,
  message: unknown,
  own: Readonly<Record<string, string | undefined>> = {},
): Promise<Posted> {
  const headers = new Headers({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": draftVersion,
  });
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  const url = typeof to === "string" ? to : "http://127.0.0.1/mcp";
  const body = typeof message === "string" ? message : JSON.stringify(message);
  const request = new Request(url, { method: "POST", headers, body });
  const response = await (typeof to === "string"
    ? fetch(request)
    : typeof to === "function"
      ? to(request)
      : to.fetch(request));
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export function answerIn({ headers, text }: Posted): Answer {
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const messages = messagesIn(isStream ? text : `data: ${text}`);
  const answer = messages.pop();
  if (answer === undefined) throw new Error("The server sent no response.");
  return {
    ...answer,
    ...(messages.length > 0 && { notifications: messages.map((one) => ({ ...one })) }),
  };
}

export async function draftOverHttp(
  to: To,
  capabilities: object = everything,
  own: Readonly<Record<string, string>> = {},
): Promise<DraftPeer & { readonly sessionId: string }> {
  const opening = { jsonrpc: "2.0", id: 0, method: "initialize", params: hello(capabilities) };
  const posted = await postDraft(to, opening, { ...own, "mcp-protocol-version": undefined });
  const sessionId = posted.headers.get("mcp-session-id") ?? "";
  const headers = { ...own, "mcp-session-id": sessionId };
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  const { status } = await postDraft(to, initialized, headers);
  if (status !== 202) throw new Error(`HTTP ${status} for notifications/initialized`);
  let asked = 0;
  return {
    opened: answerIn(posted),
    sessionId,
    ask: async (method, params = {}) => {
      asked += 1;
      const id = asked;
      const answer = answerIn(await postDraft(to, { jsonrpc: "2.0", id, method, params }, headers));
      if (answer.id !== id) throw new Error(`${JSON.stringify(answer)} is not for ${id}`);
      return answer;
    },
  };
}

// ---------------------------------------------------------------- over stdio

const started = new Map<string, Promise<StdioPeer>>();

interface StdioPeer extends DraftPeer {
  readonly send: (message: object) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** One process for all tests of a file whose clients declare the same. */
export function draftOverStdio(
  app: "till" | "oven",
  capabilities: object = everything,
): Promise<StdioPeer> {
  const key = `${app} ${JSON.stringify(capabilities)}`;
  const peer = started.get(key) ?? startPeer(app, capabilities);
  started.set(key, peer);
  return peer;
}

/** Call this after all tests. If the tests are killed first, the processes end with their input. */
export async function endStdio(): Promise<void> {
  for (const peer of started.values()) await (await peer).close();
}

const answerOf = (message: object): Answer => message;

async function startPeer(app: "till" | "oven", capabilities: object): Promise<StdioPeer> {
  const { command, args, cwd } = stdioPlace(new URL("stdio-server.ts", import.meta.url));
  const transport = new StdioClientTransport({ command, args: [...args, app], cwd: cwd ?? "." });
  const waiting = new Map<unknown, (answer: Answer) => void>();
  const told: Members[] = [];
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a transport has no other
  transport.onmessage = (message) => {
    if ("method" in message) told.push({ ...message });
    else waiting.get(message.id)?.({ ...answerOf(message), notifications: told.splice(0) });
  };
  await transport.start();
  const send = (message: object) =>
    transport.send(parseJSONRPCMessage({ jsonrpc: "2.0", ...message }));
  let id = 0;
  const ask = async (method: string, params: object = {}) => {
    id += 1;
    const answered = new Promise<Answer>((resolve) => void waiting.set(id, resolve));
    await send({ id, method, params });
    return answered;
  };
  const opened = await ask("initialize", hello(capabilities));
  await send({ method: "notifications/initialized" });
  return { opened, ask, send, close: () => transport.close() };
}

/** The result of a tool that returns this text. */
export const said = (text: string) => ({ content: [{ type: "text", text }], isError: false });

// ---------------------------------------------------------------- tasks

export interface Task extends Members {
  readonly taskId: string;
  readonly status: string;
}

/** Polls the task until it has this status. Gives up after a while. */
export function untilTask({ ask }: DraftPeer, taskId: string, status: string): Promise<Task> {
  return vi.waitFor(
    async () => {
      const { result, error } = await ask("tasks/get", { taskId });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests look at what it is
      const task = result as Task | undefined;
      if (task?.status === status) return task;
      throw new Error(`The task has another status: ${JSON.stringify(task ?? error)}`);
    },
    { ...patience, interval: 10 },
  );
}

export function taskIn({ result, error }: Answer): Task {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests look at what it is
  const task = result?.["task"] as Task | undefined;
  if (typeof task?.taskId !== "string") {
    throw new Error(`The call did not become a task: ${JSON.stringify(result ?? error)}`);
  }
  return task;
}

export const about = (taskId: string) => ({ [relatedTask]: { taskId } });

/** Sends `tasks/input_response`. */
export const respond = ({ ask }: DraftPeer, taskId: string, inputResponses: unknown) =>
  ask("tasks/input_response", { inputResponses, _meta: about(taskId) });
