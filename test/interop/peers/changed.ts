// The ways in which what a server sent can change: every field, every code and every place in the order.

import { isAnswered, isMembers, numberOf } from "./tidy.ts";
import type { Passed } from "./transcript.ts";

/** What passed with one change, and what was changed. An exchange that would never end is left out. */
export function everyChange(passed: readonly Passed[]): (readonly [string, Passed[]])[] {
  return passed.flatMap((one, at) => {
    if ("request" in one || "end" in one) return [];
    const fields = [...everyChangeIn(one)]
      .filter(([where]) => where !== ".response" && where !== ".event")
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a field of it has changed
      .map(([where, changed]) => [`${at}${where}`, passed.with(at, changed as Passed)] as const);
    const next = passed[at + 1];
    const isOneStream = next !== undefined && "event" in one && "event" in next;
    const swapped = isOneStream && numberOf(one) === numberOf(next);
    return [
      ...fields.filter(([, changed]) => isAnswered(changed, numberOf(one))),
      ...(swapped ? [[`order of ${at}`, passed.with(at, next).with(at + 1, one)] as const] : []),
    ];
  });
}

/** The value with one field changed, or without one. */
function* everyChangeIn(value: unknown): Generator<readonly [string, unknown]> {
  if (Array.isArray(value)) {
    for (const [at, one] of value.entries()) {
      for (const [where, changed] of everyChangeIn(one)) {
        yield [`[${at}]${where}`, value.with(at, changed)];
      }
    }
  } else if (isMembers(value)) {
    for (const [name, one] of Object.entries(value)) {
      for (const [where, changed] of everyChangeIn(one)) {
        yield [`.${name}${where}`, { ...value, [name]: changed }];
      }
      const { [name]: _, ...rest } = value;
      yield [`.${name}`, rest];
    }
  } else yield ["", typeof value === "number" ? value + 1 : `${String(value)} changed`];
}
