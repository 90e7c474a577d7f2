// What a client can be asked. Translates between the capabilities that it declares, the requests that need them, and one
// name for each. The first request of a call fixes them (R13), so that a handler that checks `ctx.can` before it asks does
// the same in every round.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import type { InputRequest } from "./input-required.ts";
import { streamingExtension } from "./streaming.ts";
import { tasksExtension } from "./task.ts";

/** Something that a client can do for a handler. */
export type Ability =
  | "form"
  | "url"
  | "sampling"
  | "sampling.tools"
  | "sampling.context"
  | "roots"
  | "task";

/** The id of an extension: a prefix and a name, such as "io.example/ext". */
export type ExtensionId = `${string}/${string}`;

/** Whether this can be the id of an extension. */
export const isExtensionId = (id: string): id is ExtensionId => /^[^/\s]+\/[^/\s]+$/.test(id);

/** Limits on the ids, because a client chooses them and every token holds them. */
const mostExtensions = 32;
const longestExtensionId = 128;

/** What a client with these capabilities can do, and the extensions that it has declared. */
export function abilitiesOf(capabilities: ClientCapabilities): readonly (Ability | ExtensionId)[] {
  const { elicitation, sampling, roots, extensions, experimental } = capabilities;
  const abilities: (Ability | ExtensionId)[] = [];
  // `elicitation: {}` declares forms only.
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
  if (extensions !== undefined) abilities.push(...declaredIn(extensions));
  // 2025-11-25 has no extensions. Its clients declare this one among the experimental capabilities.
  if (isDeclared(experimental?.[streamingExtension]) && !abilities.includes(streamingExtension)) {
    abilities.push(streamingExtension);
  }
  return abilities;
}

/** Except the tasks extension, whose ability is called "task". */
function declaredIn(extensions: object): readonly ExtensionId[] {
  return Object.entries(extensions)
    .flatMap(([id, settings]) => (isExtensionId(id) && isDeclared(settings) ? [id] : []))
    .filter((id) => id !== tasksExtension && id.length <= longestExtensionId)
    .slice(0, mostExtensions);
}

/** Any object declares an extension, because its settings may grow. */
const isDeclared = (settings: unknown): boolean =>
  typeof settings === "object" && settings !== null && !Array.isArray(settings);

/** Whether the client can follow a task. */
export function canFollowTasks({ extensions }: ClientCapabilities): boolean {
  return isDeclared(extensions?.[tasksExtension]);
}

/** What a client has to be able to do to answer this request. */
export function capabilityNeededBy(request: InputRequest): Ability {
  switch (request.method) {
    case "elicitation/create":
      return request.params.mode;
    case "sampling/createMessage": {
      const { tools, toolChoice } = request.params;
      return tools === undefined && toolChoice === undefined ? "sampling" : "sampling.tools";
    }
    case "roots/list":
      return "roots";
  }
}

/** The capabilities that a client would have to declare for it. Error -32021 names them. */
export function capabilitiesFor(ability: Ability | ExtensionId): ClientCapabilities {
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
    default:
      return { extensions: { [ability]: {} } };
  }
}
