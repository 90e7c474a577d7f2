// The body of a request, read up to a limit, after the sender was let in.

import type { Json } from "../util/json.ts";
import { isObject } from "../util/objects.ts";
import { Refusal } from "./refusal.ts";

/** The most that a request may send. An answer with a long text fits. */
const mostBytes = 256 * 1024;

/** Reads an object. */
export async function jsonBody(request: Request): Promise<Readonly<Record<string, Json>>> {
  const text = await textOf(request);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal(400, "invalid", "The body is not JSON.");
  }
  if (!isObject(value) || Array.isArray(value)) {
    throw new Refusal(400, "invalid", "The body must be an object in JSON.");
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse makes nothing else
  return value as Readonly<Record<string, Json>>;
}

async function textOf({ body }: Request): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > mostBytes) {
      throw new Refusal(413, "invalid", `The body is larger than ${mostBytes} bytes.`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
