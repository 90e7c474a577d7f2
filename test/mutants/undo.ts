// Mutants of R16, the rule of undo.

import type { Mutant } from "./rules.ts";

export const undoMutants: readonly Mutant[] = [
  {
    rule: "R16",
    what: "a body starts before its step is noted as begun (U1)",
    file: "src/replay/playback.ts",
    find: "    if (begun !== undefined) return false;\n",
    put: "",
  },
  {
    rule: "R16",
    what: "a step that runs again is noted as begun again (U1)",
    file: "src/replay/begin.ts",
    find: " || log.hasBegun(key)",
    put: "",
  },
  {
    rule: "R16",
    what: "a step is noted as begun although its body may not start (U1)",
    file: "src/replay/begin.ts",
    find: "return may === true ? { kind",
    put: "return may !== null ? { kind",
  },
  {
    rule: "R16",
    what: "a note that a step has begun is no effect (U1)",
    file: "src/replay/journal.ts",
    find: ' || kind === "begun";',
    put: ";",
  },
  {
    rule: "R16",
    what: "what a body returns after the end of its run is lost (U3)",
    file: "src/replay/bodies.ts",
    find: "    if (entry !== undefined) this.#left(operation, entry);\n",
    put: "",
  },
];
