// In development: the last calls that were made of rounds, in the memory of this process.

import type { RoundWatcher, WatchedRound } from "../server/round/round-watch.ts";
import type { Json } from "../util/json.ts";
import { notFound } from "./refusal.ts";
import { entryParts } from "./task-details.ts";
import type { CallDetails, CallList, CallRow, EntryFacts, RoundFacts } from "./wire.ts";

const mostCalls = 200;
const mostRounds = 100;

interface Recorded {
  row: CallRow;
  readonly rounds: RoundFacts[];
}

/** Keeps calls, the newest last. A call that asks nothing is not kept. */
export class CallRecorder implements Pick<RoundWatcher, "served"> {
  readonly #calls = new Map<string, Recorded>();
  readonly #changed: (id: string) => void;

  constructor(changed: (id: string) => void) {
    this.#changed = changed;
  }

  readonly served = (round: WatchedRound): void => {
    const { callId, response, request, definition, beganAt, endedAt } = round;
    const before = this.#calls.get(callId);
    // A call that ends in its first round is a plain one.
    if (round.round === 1 && response.kind !== "input_required") return;
    const rounds = [...(before?.rounds ?? []), factsOf(round, before?.rounds.at(-1))];
    const isOver = response.kind !== "input_required";
    const row: CallRow = {
      id: callId,
      target: definition.method === "resources/read" ? request.target : definition.name,
      ...(request.principal !== undefined && { principal: request.principal }),
      beganAt: before?.row.beganAt ?? beganAt,
      ...(isOver && { endedAt }),
      rounds: rounds.length,
      status: statusOf(response),
      ...(response.kind === "task" && { task: response.task.id }),
    };
    this.#calls.delete(callId);
    this.#calls.set(callId, { row, rounds: rounds.slice(-mostRounds) });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > mostCalls && oldest !== undefined) this.#calls.delete(oldest);
    this.#changed(callId);
  };

  list(): CallList {
    return { calls: [...this.#calls.values()].map(({ row }) => row).toReversed() };
  }

  details(id: string): CallDetails {
    const found = this.#calls.get(id);
    if (found === undefined) {
      throw notFound("This call is not kept. The server keeps the last 200, until it restarts.");
    }
    return { call: found.row, rounds: found.rounds };
  }
}

function statusOf(response: WatchedRound["response"]): CallRow["status"] {
  if (response.kind === "complete") {
    return response.result["isError"] === true ? "failed" : "completed";
  }
  if (response.kind === "input_required") return "waiting";
  return response.kind === "task" ? "task" : "failed";
}

function factsOf(round: WatchedRound, before: RoundFacts | undefined): RoundFacts {
  const { callId, request, response, replayed, beganAt, endedAt } = round;
  const { requestState, inputResponses } = request;
  const entries = (round.entries ?? []).map((entry, seq): EntryFacts => {
    const known = before?.entries[seq];
    const parts = entryParts(entry, callId, true);
    const isReplayed = seq < replayed;
    const line = "key" in entry ? round.lines?.get(entry.key) : undefined;
    return {
      seq,
      bytes: sizeOf(entry),
      ...parts,
      ...(line !== undefined && { line }),
      epoch: isReplayed ? (known?.epoch ?? round.round - 1) : round.round,
      // An answer came with the request, and the rest was recorded by its end.
      at: isReplayed ? (known?.at ?? beganAt) : entry.kind === "answer" ? beganAt : endedAt,
    };
  });
  const sent = { arguments: request.arguments, requestState, inputResponses };
  const shown = responseOf(response);
  return {
    round: round.round,
    at: beganAt,
    ms: endedAt - beganAt,
    requestBytes: sizeOf(sent),
    responseBytes: sizeOf(shown),
    ...(typeof requestState === "string" && {
      tokenBytes: requestState.length,
      token: asJson({ round: round.round - 1, entries: entries.slice(0, replayed) }),
    }),
    ...(inputResponses !== undefined && { answers: asJson(inputResponses) }),
    entries,
    ...(shown !== undefined && { response: asJson(shown) }),
  };
}

function responseOf(response: WatchedRound["response"]): unknown {
  switch (response.kind) {
    case "complete":
    case "input_required":
      return response.result;
    case "error":
      return { error: { code: response.code, message: response.message } };
    case "task":
      return { taskId: response.task.id, status: response.task.status };
    case "none":
      return undefined;
  }
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was sent, or will be sent, as JSON
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? "null") as Json;
