// Whether the window is as narrow as a telephone. Rows then have two lines.

import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 719px)");

export const isNarrow = signal(query.matches);
query.addEventListener("change", ({ matches }) => void (isNarrow.value = matches));
