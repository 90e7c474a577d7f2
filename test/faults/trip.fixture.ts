// A task for replicas: it reports a status and either runs one step or asks, depending on its input.

import type { StepInfo } from "../../src/replay/operations.ts";
import type { Json } from "../../src/util/json.ts";
import { ask, external } from "../../src/tasks/engine.fixture.ts";
import type { Handler } from "../../src/tasks/engine.fixture.ts";

export interface Traveller {
  readonly body: (info: StepInfo) => unknown;
  /** Called whenever the handler receives something. */
  readonly tell: (told: unknown) => void;
}

/** With the input "ask" it asks one question and waits for one delivery. Otherwise it runs one step. */
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
