// What a client can be asked. Frozen with the first request of a call (R13), so that a handler that looks
// before it asks does the same in every round.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { tasksExtension } from "./task.ts";

export type Ability =
  | "form"
  | "url"
  | "sampling"
  | "sampling.tools"
  | "sampling.context"
  | "roots"
  | "task";

export function abilitiesOf(capabilities: ClientCapabilities): readonly Ability[] {
  const { elicitation, sampling, roots } = capabilities;
  const abilities: Ability[] = [];
  // `elicitation: {}` is a client that knows forms only.
  if (
    elicitation !== undefined &&
    (elicitation.form !== undefined || elicitation.url === undefined)
  ) {
    abilities.push("form");
  }
  if (elicitation?.url !== undefined) abilities.push("url");
  if (sampling !== undefined) abilities.push("sampling");
  if (sampling?.tools !== undefined) abilities.push("sampling.tools");
  if (sampling?.context !== undefined) abilities.push("sampling.context");
  if (roots !== undefined) abilities.push("roots");
  if (canFollowTasks(capabilities)) abilities.push("task");
  return abilities;
}

/** Any object declares it: its settings may grow. */
export function canFollowTasks({ extensions }: ClientCapabilities): boolean {
  const declared: unknown = extensions?.[tasksExtension];
  return typeof declared === "object" && declared !== null && !Array.isArray(declared);
}

/** The capabilities a client would have to declare, for error -32021. */
export function capabilitiesFor(ability: Ability): ClientCapabilities {
  switch (ability) {
    case "form":
      return { elicitation: { form: {} } };
    case "url":
      return { elicitation: { url: {} } };
    case "sampling":
      return { sampling: {} };
    case "sampling.tools":
      return { sampling: { tools: {} } };
    case "sampling.context":
      return { sampling: { context: {} } };
    case "roots":
      return { roots: {} };
    case "task":
      return { extensions: { [tasksExtension]: {} } };
  }
}
