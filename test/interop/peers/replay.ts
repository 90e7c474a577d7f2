// Replays transcripts against our side: the requests of a peer's client against our server, and the responses of a
// peer's server against our client.

import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { vi } from "vitest";
import { patience } from "../../patience.ts";
import { Changes } from "./changes.ts";
import { partsOf } from "./exchanges.ts";
import { Hidden } from "./hidden.ts";
import {
  isAnswer,
  isAnswered,
  isMembers,
  isPoll,
  messageOf,
  numberOf,
  renamed,
  tidy,
} from "./tidy.ts";
import type { Passed } from "./transcript.ts";
import {
  arrivedHeaders,
  bodyOf,
  broken,
  closed,
  headersOf,
  isStream,
  listening,
  messagesOf,
} from "./wire.ts";

/** Polls often, because a task of a test is soon done. */
const soon = { ...patience, interval: 2 };

type Request = Extract<Passed, { request: number }>;

/**
 * Sends the recorded requests to our server. Each waits for everything that the peer had received before it sent it.
 * Returns what passed this time.
 */
export async function replayRequests(url: string, passed: readonly Passed[]): Promise<Passed[]> {
  const hidden = new Hidden();
  const exchanges = new Map<number, Exchange>();
  const seen: Passed[] = [];
  for (const [at, one] of passed.entries()) {
    if ("request" in one) {
      await allArrived(passed.slice(0, at), exchanges);
      const expected = partsOf(passed, one.request);
      const exchange = new Exchange(url, one, expected, hidden, seen);
      exchanges.set(one.request, exchange);
    } else if ("end" in one && one.by === "client") {
      await allArrived(passed.slice(0, at), exchanges);
      exchanges.get(one.end)?.leave();
    }
  }
  await allArrived(passed, exchanges);
  for (const [number, exchange] of exchanges) {
    if (!isAnswered(passed, number)) exchange.leaveStream();
  }
  await Promise.all([...exchanges.values()].map(({ ended }) => ended));
  return seen.filter((one) => !isWorking(one));
}

async function allArrived(
  passed: readonly Passed[],
  exchanges: ReadonlyMap<number, Exchange>,
): Promise<void> {
  for (const [number, exchange] of exchanges) {
    await exchange.arrived(partsOf(passed, number).length);
  }
}

const isWorking = (one: Passed) => tidy([one]).length === 0;

class Exchange {
  readonly ended: Promise<void>;
  #isOver = false;
  #isStream = false;
  #count = 1;
  readonly #changes = new Changes();
  readonly #leaving = new AbortController();
  readonly #number: number;
  readonly #hidden: Hidden;
  readonly #seen: Passed[];

  constructor(
    url: string,
    request: Request,
    expected: readonly Passed[],
    hidden: Hidden,
    seen: Passed[],
  ) {
    this.#number = request.request;
    this.#hidden = hidden;
    this.#seen = seen;
    seen.push(request);
    this.ended = this.#run(url, request, expected).finally(() => {
      this.#isOver = true;
      this.#changes.happened();
    });
    // A failure is thrown where this is awaited, after the other exchanges.
    this.ended.catch(() => {});
  }

  /** Waits until this much has passed, or nothing more will. */
  arrived(count: number): Promise<void> {
    return this.#changes.until(() => this.#isOver || this.#count >= count);
  }

  leave(): void {
    this.#leaving.abort();
  }

  /** Leaves a stream that stays open. */
  leaveStream(): void {
    if (this.#isStream) this.leave();
  }

  async #run(url: string, request: Request, expected: readonly Passed[]): Promise<void> {
    const { http, headers, message } = this.#hidden.show(request);
    const { signal } = this.#leaving;
    const send = () =>
      fetch(url, {
        method: http,
        headers,
        signal,
        ...(message !== undefined && { body: JSON.stringify(message) }),
      });
    try {
      let response = await send();
      if (messageOf(request)["method"] === "tasks/get") {
        // A peer polls until something has happened. So does this.
        response = await vi.waitFor(async () => {
          const polled = await send();
          if (!isExpected(await polled.clone().text(), expected)) throw new Error("not yet");
          return polled;
        }, soon);
      }
      await this.#read(response);
    } catch (error) {
      if (!signal.aborted) throw error;
      this.#pass({ end: this.#number, by: "client" });
    }
  }

  async #read(response: Response): Promise<void> {
    const { status } = response;
    const told = { response: this.#number, status, headers: headersOf(response.headers) };
    if (!isStream(response.headers)) {
      const text = await response.text();
      this.#pass({ ...told, ...(text !== "" && { message: JSON.parse(text) }) });
      return;
    }
    this.#isStream = true;
    this.#pass(told);
    for await (const message of messagesOf(response.body)) {
      this.#pass({ event: this.#number, message });
    }
    this.#pass({ end: this.#number, by: "server" });
  }

  #pass(one: Passed): void {
    this.#seen.push(this.#hidden.hide(one));
    if (!isWorking(one)) this.#count += 1;
    this.#changes.happened();
  }
}

/** Whether a task is as far as it was when this was recorded. */
function isExpected(text: string, expected: readonly Passed[]): boolean {
  const statuses = expected.map(messageOf).flatMap(({ result }) => {
    const status = isMembers(result) ? result["status"] : undefined;
    return status === undefined ? [] : [`"status":${JSON.stringify(status)}`];
  });
  return statuses.every((status) => text.includes(status));
}

/** What tells requests apart that a client has open at the same time. */
function kindOf({ http, message }: Pick<Request, "http" | "message">): string {
  return JSON.stringify([http, isMembers(message) ? (message["method"] ?? "response") : ""]);
}

/** Serves the recorded responses to our client. */
export async function replayResponses(passed: readonly Passed[]): Promise<{
  readonly url: string;
  /** The requests that our client has sent this time, in the places of the recorded ones. */
  readonly requests: () => Passed[];
  /** The requests that it sent before it had what it waited for when this was recorded. */
  readonly early: () => Passed[];
  readonly close: () => Promise<void>;
}> {
  const recorded = passed.filter((one): one is Request => "request" in one);
  const arrived = new Map<number, Request>();
  const unexpected: Passed[] = [];
  const early: Passed[] = [];
  const answered = new Set<number>();
  const hidden = new Hidden();
  const ids = new Map<unknown, unknown>();
  const changes = new Changes();

  /** Whether our client has sent everything that it had sent before this request. */
  const isReady = ({ request: number }: Request) =>
    recorded.every((one) => one.request >= number || arrived.has(one.request));

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(request);
    const message: unknown = body === "" ? undefined : JSON.parse(body);
    const told = {
      http: request.method ?? "",
      headers: headersOf(arrivedHeaders(request)),
      ...(message !== undefined && { message }),
    };
    const match = recorded.find((one) => !arrived.has(one.request) && kindOf(one) === kindOf(told));
    const sent: Request = { request: match?.request ?? 0, ...told };
    // A client may poll more often than it did, and then sees what it saw before.
    const seen = [...arrived.values()].findLast(isPoll);
    if (isPoll(sent) && seen !== undefined && (match === undefined || !isReady(match))) {
      ids.set(messageOf(recorded[seen.request - 1] ?? seen)["id"], messageOf(sent)["id"]);
      await play(seen.request, response);
      return;
    }
    if (match === undefined) {
      unexpected.push(sent);
      response.writeHead(500).end();
      return;
    }
    arrived.set(match.request, sent);
    hidden.hide(sent);
    changes.happened();
    const before = passed.slice(0, passed.indexOf(match));
    const hadAnswers = before.filter(isAnswer).every((one) => answered.has(numberOf(one)));
    if (!hadAnswers) early.push(sent);
    if (messageOf(match)["method"] !== undefined) {
      ids.set(messageOf(match)["id"], messageOf(sent)["id"]);
    }
    await play(match.request, response);
  };

  const play = async (number: number, response: ServerResponse) => {
    const hasEvents = passed.some((one) => "event" in one && one.event === number);
    for (const [at, one] of passed.entries()) {
      if (numberOf(one) !== number || "request" in one) continue;
      if ("end" in one && one.by === "client") return;
      const before = passed.slice(0, at).filter((other) => "request" in other);
      await changes.until(() => before.every((other) => arrived.has(numberOf(other))));
      if (isAnswer(one)) answered.add(number);
      const told = "message" in one ? hidden.show(renamed(one.message, ids, false)) : undefined;
      const message = told === undefined ? "" : JSON.stringify(told);
      if ("response" in one) {
        response.writeHead(one.status, one.headers).flushHeaders();
        const isWhole = one.headers["content-type"] !== "text/event-stream" && !hasEvents;
        if (isWhole) response.end(message);
      } else if ("event" in one) response.write(`event: message\ndata: ${message}\n\n`);
    }
    if (isAnswered(passed, number)) response.end();
  };

  const server = createServer((request, response) => {
    serve(request, response).catch(broken(response));
  });
  const port = await listening(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests: () => {
      const inOrder = [...arrived.values()].toSorted((one, other) => one.request - other.request);
      return tidy([...inOrder, ...unexpected]);
    },
    early: () => early,
    close: () => closed(server),
  };
}
