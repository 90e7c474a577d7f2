// A task for replicas: it reports, does one thing, and asks if it is told to.

import type { StepInfo } from "../../src/replay/operations.ts";
import type { Json } from "../../src/util/json.ts";
import { ask, external } from "../../src/tasks/engine.fixture.ts";
import type { Handler } from "../../src/tasks/engine.fixture.ts";

export interface Traveller {
  readonly body: (info: StepInfo) => unknown;
  /** What the handler is told, whenever it is told something. */
  readonly tell: (told: unknown) => void;
}

/** Input "ask": one question and one word of somebody else's. Else one step. */
export function trip({ body, tell }: Traveller): Handler {
  return async (input, ops, report): Promise<Json> => {
    if (input !== "ask") {
      const done = await ops.step("work", body);
      tell(done);
      return done as Json;
    }
    if (ops.isLive()) report("about to ask");
    const answer = await ask(ops, "way");
    tell(answer);
    const word = await external(ops, "boss");
    tell(word);
    return [answer, word] as Json;
  };
}
