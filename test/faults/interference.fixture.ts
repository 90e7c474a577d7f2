// A client that answers at the worst moment: right before the task parks at that question.

import { Engine } from "../../src/tasks/engine.fixture.ts";
import type { TaskStore } from "../../src/tasks/store.ts";

export const answeredInBetween = "size~2";

/** `seen` is the store that the engine uses, and `store` is the one that the client uses. */
export function interfering(
  seen: TaskStore,
  store: TaskStore,
  isDead: () => boolean = () => false,
): TaskStore {
  const { runtime } = new Engine(store, {});
  return {
    ...seen,
    park: async (ref, waiting) => {
      const wires = waiting.waits.map(({ wire }) => wire).join();
      if (wires === answeredInBetween && !isDead()) {
        await runtime.update(ref.id, new Map([[answeredInBetween, "L"]]));
      }
      return seen.park(ref, waiting);
    },
  };
}
