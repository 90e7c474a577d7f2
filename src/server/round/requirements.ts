// What a client must be able to do before a call of a tool begins: `requires` in the tool's config.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { abilitiesOf, capabilitiesFor } from "../../protocol/capabilities.ts";
import { missingClientCapability } from "../../protocol/error-codes.ts";
import type { ExtensionId } from "../../protocol/capabilities.ts";
import { abilityNames, isRequirable, keptAs } from "../define/abilities.ts";
import type { Declared, RequiredAbility } from "../define/abilities.ts";
import type { Core } from "../core.ts";
import type { Definition } from "../define/definition.ts";
import type { RoundRequest, RoundResponse } from "./request.ts";
import { canAsk, relaysTasks, waysOf } from "./ways.ts";

/** The response to a client that lacks something. Undefined if it has everything. `also` is what this request proves. */
export function unmetRequirement(
  core: Core,
  definition: Definition,
  request: RoundRequest,
  also: readonly Declared[] = [],
): Extract<RoundResponse, { kind: "error" }> | undefined {
  const { name, requires = [] } = definition;
  if (requires.length === 0) return undefined;
  const able: string[] = [...abilitiesOf(request.capabilities), ...also.map(keptAs)];
  const ways = waysOf(core, definition, request);
  if (canAsk(ways)) able.push("ask");
  if (relaysTasks(definition.task, ways)) able.push("task");
  const missing = requires.filter(
    (ability) => !able.includes(ability === "ask" ? ability : keptAs(ability)),
  );
  if (missing.length === 0) return undefined;
  return {
    kind: "error",
    code: missingClientCapability,
    message: `Tool "${name}" needs a client that supports ${missing.map(nameOf).join(" and ")}, and this one does not. Nothing has run.`,
    data: { requiredCapabilities: merged(missing) },
  };
}

const nameOf = (ability: RequiredAbility | ExtensionId): string =>
  isRequirable(ability) ? abilityNames[ability] : `the extension ${ability}`;

/** Forms and pages are both members of `elicitation`, and all extensions are members of `extensions`. */
function merged(missing: readonly (RequiredAbility | ExtensionId)[]): ClientCapabilities {
  const all = missing.map((ability) =>
    capabilitiesFor(keptAs(ability === "ask" ? "form" : ability)),
  );
  const elicitation = Object.assign({}, ...all.map((one) => one.elicitation));
  const extensions = Object.assign({}, ...all.map((one) => one.extensions));
  return Object.assign(
    {},
    ...all,
    Object.keys(elicitation).length === 0 ? {} : { elicitation },
    Object.keys(extensions).length === 0 ? {} : { extensions },
  );
}
