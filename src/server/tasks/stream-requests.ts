// `…/streaming/read`: the streams of a task, on every transport. The parts go out as notifications, and the response is the
// task as `tasks/get` has it, with the cursor for the next reading.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { abilitiesOf, canFollowTasks, capabilitiesFor } from "../../protocol/capabilities.ts";
import {
  internalError,
  invalidParams,
  missingClientCapability,
} from "../../protocol/error-codes.ts";
import { streamingExtension, streamTokenIn } from "../../protocol/streaming.ts";
import type { PartContent } from "../../protocol/streaming.ts";
import { BadCursorError } from "../../tasks/streams/stream-cursor.ts";
import type { StreamsRead } from "../../tasks/streams/stream-reading.ts";
import type { TaskSnapshot } from "../../tasks/snapshot.ts";
import type { Core } from "../core.ts";
import type { PartChannel } from "../round/client-parts.ts";
import { Places } from "./places.ts";
import { notDeclared, ownTask, removedTask, unknownTask, unreachable } from "./requests.ts";
import type { TaskResponse } from "./requests.ts";
import { detailedTask } from "./wire.ts";

/** A request to read the streams of a task. */
export interface StreamsRequest {
  readonly taskId: unknown;
  /** The cursor of an earlier reading. */
  readonly after: unknown;
  /** The `_meta` of the request, which names the stream. */
  readonly meta: unknown;
  /** What this request declares. */
  readonly capabilities: ClientCapabilities;
  readonly principal: string | undefined;
  readonly channel: PartChannel;
  /** Called when the request is admitted. It may take long from here on. */
  readonly begin?: (() => void) | undefined;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** Serves one reading. Undefined if the client has gone, or does not read what it is sent. Never rejects. */
export async function serveStreams(
  core: Core,
  request: StreamsRequest,
): Promise<TaskResponse | undefined> {
  const { capabilities, meta, taskId, after, principal } = request;
  // Checked first, so that a client without the extensions learns nothing about tasks.
  if (!canFollowTasks(capabilities)) return notDeclared;
  if (!abilitiesOf(capabilities).includes(streamingExtension)) return noStreams;
  const token = streamTokenIn(meta);
  if (token === undefined) return noToken;
  if (after !== undefined && typeof after !== "string") return badCursor;
  try {
    const task = await ownTask(core, taskId, principal);
    if (task === undefined) return unknownTask;
    if (task.isRemoved) return removedTask;
    const leave = placesOf(core).take(principal);
    if (typeof leave === "string") return tooMany(leave);
    request.begin?.();
    try {
      return responseTo(await read(core, request, token, task));
    } finally {
      leave();
    }
  } catch (error) {
    if (error instanceof BadCursorError) return badCursor;
    if (request.signal.aborted) return undefined;
    return unreachable(core, "streaming/read", error, taskId);
  }
}

/** Sends the parts, each when the client has room for it. Resolves to undefined if the client has gone. */
async function read(
  core: Core,
  { after, channel, signal }: StreamsRequest,
  token: string,
  task: TaskSnapshot,
): Promise<StreamsRead | "gone" | undefined> {
  const over = new AbortController();
  const stop = () => over.abort();
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  const cursor = typeof after === "string" ? after : undefined;
  const reading = core.tasks?.readStreams(task, cursor, over.signal);
  let isGone = false;
  let bytes = 0;
  try {
    for (;;) {
      const next = await reading?.next();
      if (isGone || signal.aborted) return "gone";
      if (next === undefined || next.done === true) return next?.value;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its content was made of content blocks
      const part = next.value as PartContent;
      const room = channel.send({ token, ...part });
      isGone = room !== undefined && !(await hasRoom(core, room));
      bytes += channel.mostBytes === undefined ? 0 : JSON.stringify(part).length;
      // If unread bytes cannot be counted, the client asks for more.
      if (isGone || bytes > (channel.mostBytes ?? Infinity)) stop();
    }
  } finally {
    stop();
    signal.removeEventListener("abort", stop);
    await reading?.return(undefined);
  }
}

/** Whether the client reads on within `limits.streamStallMs`. */
function hasRoom({ environment, limits }: Core, room: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const callOff = environment.eventually(limits.streamStallMs, () => resolve(false));
    void room.then(() => {
      callOff();
      resolve(true);
    });
  });
}

const places = new WeakMap<Core, Places>();

function placesOf(core: Core): Places {
  let own = places.get(core);
  if (own === undefined) {
    own = new Places(
      core.limits.streamReaders,
      (taken) =>
        `Reader limit reached: this caller already reads the streams of ${taken} tasks, the most it may read at a time. Close one, or poll the tasks with tasks/get.`,
      "Reader limit reached",
    );
    places.set(core, own);
  }
  return own;
}

// ---------------------------------------------------------------- responses

function responseTo(end: StreamsRead | "gone" | undefined): TaskResponse | undefined {
  if (end === "gone") return undefined;
  if (end === undefined) return unknownTask;
  const { task, cursor } = end;
  const result = { resultType: "complete", ...detailedTask(task), cursor };
  return task.isRemoved ? removedTask : { kind: "result", result };
}

const noStreams: TaskResponse = {
  kind: "error",
  code: missingClientCapability,
  message: `Requests that read streams must declare the streaming extension (${streamingExtension}).`,
  data: { requiredCapabilities: capabilitiesFor(streamingExtension) },
};

const noToken: TaskResponse = {
  kind: "error",
  code: invalidParams,
  message: `Name the stream: send _meta["${streamingExtension}"].token, a text that is new in each request.`,
  data: { reason: "no_token" },
};

const badCursor: TaskResponse = {
  kind: "error",
  code: invalidParams,
  message: "The cursor is not one of this task. Discard what you have, and read without one.",
  data: { reason: "bad_cursor" },
};

const tooMany = (message: string): TaskResponse => ({
  kind: "error",
  code: internalError,
  message,
  data: { reason: "too_many_readers" },
});
