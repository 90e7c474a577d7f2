// Replaces src/server/round/round.ts for `wrapped÷unwrapped`: the same entry, the same arguments and the same result, but
// between them only the author's function. No call is opened, nothing is traced, and no engine runs.

import type { RoundResponse, RoundRequest } from "../../src/server/round/request.ts";
import type { Core } from "../../src/server/core.ts";
import type { Definition } from "../../src/server/define/definition.ts";

export async function serveRound(
  _core: Core,
  definition: Definition,
  { target, arguments: args }: RoundRequest,
): Promise<RoundResponse> {
  const parsed = await definition.parse(target, args);
  if (!parsed.ok) throw new Error(parsed.reason);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- there is no context here
  const returned = await definition.invoke(parsed.input, undefined as never);
  return { kind: "complete", result: await definition.toResult(returned, target) };
}
