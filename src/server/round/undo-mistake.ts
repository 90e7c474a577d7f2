// Mistakes with the `undo` of a step. TypeScript finds most of them.

import { ParleyError } from "../../errors.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";

/** The mistake of a step with this undo. Undefined if there is none. */
export function undoMistake(
  { undos }: Core,
  { name }: Definition,
  step: string,
  undo: unknown,
  canUndo: boolean,
): ParleyError | undefined {
  if (typeof undo === "string") {
    return mistake(
      `Step "${step}" has undo: "${undo}". Pass the value that app.undo("${undo}", …) returned, not its name.`,
    );
  }
  if (!undos.has(undo)) {
    return mistake(
      `Step "${step}" has an undo of another app. Register it with app.undo() on the app that has the tool.`,
    );
  }
  if (canUndo) return undefined;
  return mistake(
    `Step "${step}" of "${name}" has an undo, but it runs in a round and a repeated request would run it again.\n` +
      "Add once: true to the tool's config, or call ctx.background() before the step.",
  );
}

const mistake = (message: string) => new ParleyError("bad_option", message);
