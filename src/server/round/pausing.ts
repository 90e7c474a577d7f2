// Which open questions the client gets with its `requestState`, and whether the call pauses for the others.

import type { Open } from "../../replay/outcome.ts";
import { isShown } from "../context/questions.ts";
import type { Pausing } from "./request.ts";
import type { OpenWait } from "./state.ts";
import type { Way } from "./ways.ts";

/** The questions that can travel go first. The call pauses only once none of them is left. */
export function travelling(open: readonly Open[]): readonly Open[] {
  if (!open.some(isPausing)) return open;
  const others = open.filter((wait) => !isPausing(wait));
  return others.some(({ shown }) => isShown(shown)) ? others : open;
}

/** Set if no `requestState` can travel with any of these questions. */
export function pausingFor(open: readonly Open[], out: readonly OpenWait[]): Pausing | undefined {
  if (!open.some(isPausing)) return undefined;
  const ways = open.flatMap(({ key, shown }): [string, Way][] =>
    isShown(shown) && shown.pausingWay !== undefined ? [[key, shown.pausingWay]] : [],
  );
  const due = out.flatMap(({ dueAt }) => dueAt ?? []);
  return {
    ways: Object.fromEntries(ways),
    ...(due.length === 0 ? {} : { dueAt: Math.min(...due) }),
    mail: out.flatMap(({ key, digest = "", asked }) =>
      asked === undefined ? [] : [{ key, digest, asked }],
    ),
  };
}

const isPausing = ({ shown }: Open): boolean => isShown(shown) && shown.pausingWay !== undefined;
