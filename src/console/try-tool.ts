// In development: calls a tool as a client would, from the console, and attacks the call if asked to. The requests go through
// the app's own entry, in this process.

import type { Inside } from "../server/inside.ts";
import { modernVersion } from "../protocol/versions.ts";
import { tasksExtension } from "../protocol/task.ts";
import type { FormJson } from "../protocol/form.ts";
import type { Json } from "../util/json.ts";
import { isObject } from "../util/objects.ts";
import type { ApiCall } from "./api-call.ts";
import { notFound, Refusal } from "./refusal.ts";
import type { TriedQuestion, TryOutcome } from "./wire.ts";

const mostTries = 50;

type Members = Readonly<Record<string, Json | undefined>>;

/** A conversation: the parameters of each request so far, and the last token. */
interface Tried {
  readonly tool: string;
  readonly args: Json;
  readonly sent: Members[];
  token: string | undefined;
}

/** The conversations of one console. */
export class Tries {
  readonly #inside: Inside;
  readonly #tried = new Map<string, Tried>();

  constructor(inside: Inside) {
    this.#inside = inside;
  }

  /** POST api/try */
  readonly begin = async ({ body }: Pick<ApiCall, "body">): Promise<TryOutcome> => {
    const { tool, args = {} } = body;
    if (typeof tool !== "string" || !isObject(args)) {
      throw new Refusal(400, "invalid", "Send { tool, args }, with an object of arguments.");
    }
    const id = this.#inside.core.environment.newId();
    const tried: Tried = { tool, args, sent: [], token: undefined };
    this.#tried.set(id, tried);
    const [oldest] = this.#tried.keys();
    if (this.#tried.size > mostTries && oldest !== undefined) this.#tried.delete(oldest);
    return this.#send(id, tried, { name: tool, arguments: args });
  };

  /** POST api/try/:call */
  readonly goOn = async ({ id, body }: Pick<ApiCall, "id" | "body">): Promise<TryOutcome> => {
    const tried = this.#tried.get(id);
    if (tried === undefined) throw notFound("This conversation is not kept. Start another one.");
    const { answers, tamper, replay } = body;
    if (typeof replay === "number") {
      const again = tried.sent[replay - 1];
      if (again === undefined) throw notFound("This call has no such round.");
      return this.#send(id, tried, again, false);
    }
    const { token } = tried;
    if (token === undefined) throw new Refusal(409, "conflict", "The call does not ask anything.");
    const next = { name: tried.tool, arguments: tried.args, inputResponses: {} };
    if (tamper === true) {
      return this.#send(id, tried, { ...next, requestState: tampered(token) }, false);
    }
    if (!isObject(answers)) {
      throw new Refusal(400, "invalid", "Send { answers }, { tamper: true } or { replay: round }.");
    }
    const inputResponses = Object.fromEntries(
      Object.entries(answers).map(([key, value]) => [key, asAnswer(value)]),
    );
    return this.#send(id, tried, { ...next, requestState: token, inputResponses });
  };

  async #send(call: string, tried: Tried, params: Members, counts = true): Promise<TryOutcome> {
    const message = {
      jsonrpc: "2.0",
      id: tried.sent.length + 1,
      method: "tools/call",
      params: { ...params, _meta: meta },
    };
    const text = JSON.stringify(message);
    const request = new Request("http://127.0.0.1/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": modernVersion,
        "mcp-method": "tools/call",
        "mcp-name": headerSafe(tried.tool),
      },
      body: text,
    });
    const response = await this.#inside.handle(request, {});
    const received = await response.text();
    const last = messageIn(received);
    if (counts) tried.sent.push(params);
    const result = isObject(last["result"]) ? last["result"] : undefined;
    const state = result?.["requestState"];
    if (counts) tried.token = typeof state === "string" ? state : undefined;
    const { requestState } = params;
    return {
      call,
      ...outcomeOf(last, result),
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was made of JSON
      request: message as unknown as Json,
      response: last,
      requestBytes: Buffer.byteLength(text),
      responseBytes: Buffer.byteLength(received),
      ...(typeof requestState === "string" && { tokenBytes: requestState.length }),
    };
  }
}

const meta = {
  "io.modelcontextprotocol/protocolVersion": modernVersion,
  "io.modelcontextprotocol/clientCapabilities": {
    elicitation: { form: {}, url: {} },
    extensions: { [tasksExtension]: {} },
  },
  "io.modelcontextprotocol/clientInfo": { name: "console", version: "1" },
};

/** The same token with another character in its middle. */
function tampered(token: string): string {
  const at = Math.floor(token.length / 2);
  return `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
}

/** A value of a form, or an answer that is whole already. */
const asAnswer = (value: Json | undefined): Json =>
  isObject(value) && typeof value["action"] === "string"
    ? value
    : { action: "accept", content: value };

const headerSafe = (value: string): string =>
  /^[!-~](?:[ -~]*[!-~])?$/.test(value)
    ? value
    : `=?base64?${Buffer.from(value).toString("base64")}?=`;

/** The last message of a response, which may be a stream of events. */
function messageIn(text: string): Members {
  const lines = text.split("\n").filter((line) => line.startsWith("data: "));
  const last: unknown = JSON.parse(lines.at(-1)?.slice("data: ".length) ?? (text || "{}"));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse makes nothing else
  return (isObject(last) ? last : {}) as Members;
}

function outcomeOf(
  { error }: Members,
  result: Members | undefined,
): Pick<TryOutcome, "status" | "questions" | "result" | "error" | "task"> {
  if (result === undefined) {
    const { code, message, data } = isObject(error) ? error : {};
    const reason = isObject(data) ? data["reason"] : undefined;
    return {
      status: reason === "invalid_request_state" ? "refused" : "failed",
      questions: [],
      error: {
        code: Number(code ?? 0),
        message: typeof message === "string" ? message : "The server sent no result.",
        ...(data !== undefined && { data }),
      },
    };
  }
  const { resultType, taskId, inputRequests, isError } = result;
  if (typeof taskId === "string") return { status: "task", questions: [], task: taskId };
  if (resultType === "input_required") {
    const asked = isObject(inputRequests) ? Object.entries(inputRequests) : [];
    return { status: "input_required", questions: asked.map(questionOf) };
  }
  return { status: isError === true ? "failed" : "completed", questions: [], result };
}

function questionOf([key, request]: readonly [string, Json | undefined]): TriedQuestion {
  const { params } = isObject(request) ? request : {};
  const { message, requestedSchema, url } = isObject(params) ? params : {};
  return {
    key,
    message: typeof message === "string" ? message : "",
    ...(isObject(requestedSchema) && {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server made it
      form: requestedSchema as unknown as FormJson,
    }),
    ...(typeof url === "string" && { url }),
    ...(request !== undefined && { request }),
  };
}
