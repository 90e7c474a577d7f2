// Two responses to the same request, without the parts that may differ.

import type { Came } from "./raw.ts";

/** Headers about framing and time, which may differ. */
const framing = new Set(["content-length", "transfer-encoding", "date", "keep-alive"]);

/** The names of members that are random or a time. */
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

/** The address of a page. The two servers have different ports, and each ticket is sealed anew. */
const pageAddress = /^http:\/\/127\.0\.0\.1:\d+\/ask\/[\w.-]+$/;

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value === "string") return value.replace(pageAddress, "a page");
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const mask = chance[name];
      return [name, mask !== undefined && typeof member === "string" ? mask : masked(member)];
    }),
  );
}

/** The SDK streams its response, and the fast entry sends its length. */
export const isFast = (came: Came | string): boolean =>
  typeof came !== "string" && came.headers["content-length"] !== undefined;
