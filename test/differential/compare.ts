// Two responses to the same request, without what may differ.

import type { Came } from "./raw.ts";

/** How a response is framed, and when it was sent, says nothing about what it is. */
const framing = new Set(["content-length", "transfer-encoding", "date", "keep-alive"]);

/** What is random or a time, by the name of its member. */
const chance: Readonly<Record<string, string>> = {
  requestState: "a token",
  taskId: "an id",
  createdAt: "a time",
  lastUpdatedAt: "a time",
};

export function comparable(came: Came | string): unknown {
  if (typeof came === "string") return came;
  const headers = Object.entries(came.headers).filter(([name]) => !framing.has(name));
  return { status: came.status, headers: Object.fromEntries(headers), body: masked(came.body) };
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const mask = chance[name];
      return [name, mask !== undefined && typeof member === "string" ? mask : masked(member)];
    }),
  );
}

/** The SDK streams what it sends, the fast entry knows its length. */
export const isFast = (came: Came | string): boolean =>
  typeof came !== "string" && came.headers["content-length"] !== undefined;
