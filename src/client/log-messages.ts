// Log messages of the server. They do not say which request they belong to. Over HTTP, the stream that they arrive on
// shows it. So this file writes the id of the request into each of them, before the SDK reads the stream and mixes it
// with others.

import type { LoggingLevel } from "@modelcontextprotocol/client";
import { logLevels } from "../protocol/log-levels.ts";
import { isObject, own } from "../util/objects.ts";
import type { Members } from "../util/objects.ts";

/** What a log message says. */
export interface LogMessage {
  readonly level: LoggingLevel;
  readonly data: unknown;
  readonly logger?: string | undefined;
}

/** The method of a log message. */
export const logMethod = "notifications/message";

const requestKey = "mcp-parley/request";

/** The id of the request, if the message came on its stream. */
export const loggingRequest = (params: Members): unknown => own(params["_meta"], requestKey);

/** The message in these params. */
export function logMessageIn({ level, data, logger }: Members): LogMessage {
  return {
    level: logLevels.find((one) => one === level) ?? "info",
    data,
    ...(typeof logger === "string" && { logger }),
  };
}

/** Writes the id of a request into the log messages of its event stream. Everything else passes unchanged. */
export function namingRequest(id: string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let text = "";
  return new TransformStream({
    transform: (chunk, controller) => {
      // An event ends with an empty line, whose line ends may be in different chunks.
      const end = /\r\n\r\n|\n\n|\r\r/g;
      end.lastIndex = Math.max(0, text.length - 3);
      text += decoder.decode(chunk, { stream: true });
      let passed = 0;
      while (end.exec(text) !== null) {
        const event = text.slice(passed, end.lastIndex);
        passed = end.lastIndex;
        controller.enqueue(encoder.encode(event.includes(logMethod) ? named(event, id) : event));
      }
      text = text.slice(passed);
    },
    flush: (controller) => controller.enqueue(encoder.encode(text + decoder.decode())),
  });
}

const isData = (line: string) => line.startsWith("data:");

function named(event: string, id: string): string {
  const lines = event.split(/\r\n|\n|\r/).filter((line) => line !== "");
  const data = lines.filter(isData).map((line) => line.slice("data:".length).replace(/^ /, ""));
  const message = parsed(data.join("\n"));
  const params = own(message, "params");
  if (!isObject(message) || message["method"] !== logMethod || !isObject(params)) return event;
  const meta = params["_meta"];
  const _meta = { ...(isObject(meta) ? meta : {}), [requestKey]: id };
  const said = JSON.stringify({ ...message, params: { ...params, _meta } });
  return [...lines.filter((line) => !isData(line)), `data: ${said}`, "", ""].join("\n");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
