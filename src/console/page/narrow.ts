// How wide the window is. What has no room in one row gets more of them.

import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";

/** Whether it is as narrow as a telephone. */
export const isNarrow = matching("(max-width: 719px)");

/** Whether a table with many columns has too little room. */
export const isMedium = matching("(max-width: 1279px)");

function matching(condition: string): ReadonlySignal<boolean> {
  const query = matchMedia(condition);
  const matches = signal(query.matches);
  query.addEventListener("change", () => void (matches.value = query.matches));
  return matches;
}
