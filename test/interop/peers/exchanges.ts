// What passed, exchange by exchange, and whether two runs are the same.

import { isDeepStrictEqual } from "node:util";
import { numberOf } from "./tidy.ts";
import type { Passed, Transcript } from "./transcript.ts";

/** The parts of one exchange. */
export const partsOf = (passed: readonly Passed[], number: number) =>
  passed.filter((one) => numberOf(one) === number);

/**
 * What passed, by exchange, because the order of what happens at once is not the same in every run. Neither is the moment
 * when a stream ends, nor whether one opens before its client leaves it.
 */
export function byExchange(passed: readonly Passed[]): Passed[][] {
  const numbers = new Set(passed.map(numberOf));
  return [...numbers]
    .toSorted((one, other) => one - other)
    .map((number) => {
      const parts = partsOf(passed, number);
      const isLeft = parts.some((one) => "end" in one && one.by === "client");
      return isLeft && isSilent(parts) ? parts.slice(0, 1) : parts.filter((one) => !("end" in one));
    });
}

/** Whether two transcripts tell the same, although what happens at once happened in another order. */
export function isSame(one: Transcript, other: Transcript): boolean {
  return isDeepStrictEqual(comparable(one), comparable(other));
}

function comparable({ passed, ...told }: Transcript): unknown {
  const exchanges = byExchange(passed).map((parts) =>
    JSON.stringify(isSilent(parts) ? parts.slice(0, 1) : parts, unnumbered),
  );
  return { ...told, passed: exchanges.toSorted() };
}

/** Whether nothing was said to a request. Then it depends on the machine whether the response comes before its client leaves. */
const isSilent = (parts: readonly Passed[]) =>
  parts.every(
    (one) =>
      !("event" in one) && (!("response" in one) || (one.status < 300 && !("message" in one))),
  );

/** Without the numbers of exchanges, and with members in the order of their names, because some languages have no order. */
function unnumbered(name: string, value: unknown): unknown {
  if (["request", "response", "event"].includes(name) && typeof value === "number")
    return undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
