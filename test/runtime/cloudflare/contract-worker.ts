// Runs the contract of stores inside a Durable Object, one case for each request.

import { env } from "cloudflare:workers";
import type { ObjectState } from "mcp-parley/durable-object";
import { storeContract } from "mcp-parley/testing/store";
import { DurableObject } from "../../../src/durable-object/platform.ts";
import { objectStore } from "../../../src/durable-object/object-store.ts";
import { errorText } from "../../../src/util/error-text.ts";

type State = ObjectState & { readonly storage: { deleteAll(): Promise<void> } };

export class Tasks extends DurableObject {
  readonly #state: State;

  constructor(state: State, given: unknown) {
    super(state, given);
    this.#state = state;
  }

  get #cases() {
    return storeContract(async ({ startsAt }) => {
      let now = startsAt;
      await this.#state.storage.deleteAll();
      const { store } = objectStore(
        this.#state,
        () => ["tool"],
        () => now,
      );
      return {
        store,
        // An object has one store, through which everything goes.
        another: async () => store,
        advance: async (ms) => void (now += ms),
        close: () => store.close(),
      };
    });
  }

  async names(): Promise<string[]> {
    return this.#cases.map(({ name }) => name);
  }

  /** Resolves to what is wrong. */
  async run(index: number): Promise<string | null> {
    try {
      await this.#cases[index]?.run();
      return null;
    } catch (error) {
      return errorText(error);
    }
  }

  alarm(): void {}
}

// oxlint-disable-next-line import/no-default-export -- the form of a Worker
export default {
  async fetch(request: Request) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the class above
    const object = env.TASKS.get(env.TASKS.idFromName("contract") as never) as Tasks;
    const { searchParams } = new URL(request.url);
    const index = searchParams.get("case");
    return Response.json(index === null ? await object.names() : await object.run(Number(index)));
  },
};
