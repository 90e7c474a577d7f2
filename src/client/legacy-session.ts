// A session of 2025-11-25, where the server puts its questions as requests of its own: whose call they are, and who
// answers them.

import { RELATED_TASK_META_KEY } from "@modelcontextprotocol/client";
import type { Client, ClientContext, InputResponse } from "@modelcontextprotocol/client";
import type { OngoingCall } from "./call.ts";
import { own } from "../util/objects.ts";
import type { LegacyTool } from "./legacy.ts";
import { pendingOf } from "./pending.ts";
import type { People } from "./people.ts";

export class LegacySession {
  readonly #sdk: Client;
  readonly #people: People;
  readonly #calls: ReadonlySet<OngoingCall>;
  #thinking = 0;
  #pushed = 0;
  #turns: Promise<unknown> = Promise.resolve();

  /** `calls`: those under way, as they come and go. */
  constructor(sdk: Client, people: People, calls: ReadonlySet<OngoingCall>) {
    this.#sdk = sdk;
    this.#people = people;
    this.#calls = calls;
    this.#answerPushed();
  }

  /** People think about something that cannot be said whose it is. */
  get isThinking(): boolean {
    return this.#thinking > 0;
  }

  /** The same handlers, for a server that puts its questions as requests of its own. */
  #answerPushed(): void {
    const { elicitation, sampling, roots } = this.#people.capabilities;
    // oxlint-disable typescript/no-unsafe-type-assertion -- the kind of the answer is that of the question
    if (elicitation !== undefined) {
      this.#sdk.setRequestHandler("elicitation/create", this.#answer as never);
    }
    if (sampling !== undefined) {
      this.#sdk.setRequestHandler("sampling/createMessage", this.#answer as never);
    }
    if (roots !== undefined) this.#sdk.setRequestHandler("roots/list", this.#answer as never);
    // oxlint-enable typescript/no-unsafe-type-assertion
  }

  readonly #answer = async (
    request: { readonly method: string; readonly params?: unknown },
    { mcpReq }: ClientContext,
  ): Promise<InputResponse> => {
    this.#pushed += 1;
    const question = pendingOf(`pushed-${this.#pushed}`, request);
    const call = this.#callOf(request.params);
    // Nobody's clock runs while people think: which call it is for is not said.
    const goOn = [...this.#calls].map(({ hold }) => hold());
    this.#thinking += 1;
    try {
      if (call !== undefined) return await call.push(question, mcpReq.signal);
      return await this.#people.answer(question, mcpReq.signal);
    } finally {
      this.#thinking -= 1;
      for (const each of goOn) each();
    }
  };

  #callOf(params: unknown): OngoingCall | undefined {
    const taskId = own(own(own(params, "_meta"), RELATED_TASK_META_KEY), "taskId");
    const calls = [...this.#calls];
    if (taskId !== undefined) return calls.find((call) => call.taskId === taskId);
    return calls.length === 1 || this.#people.useEvents ? calls[0] : undefined;
  }

  /** Where a question cannot be told by its call, there is one call at a time. */
  readonly turn = <T>(work: () => Promise<T>): Promise<T> => {
    if (!this.#people.useEvents) return work();
    const turn = this.#turns.then(work);
    this.#turns = turn.catch(() => {});
    return turn;
  };

  readonly toolOf = async (name: string): Promise<LegacyTool> => {
    const tasks = own(this.#sdk.getServerCapabilities(), "tasks");
    const serverHasTasks = own(own(own(tasks, "requests"), "tools"), "call") !== undefined;
    if (!serverHasTasks) return { serverHasTasks, taskSupport: undefined };
    const { tools } = await this.#sdk.listTools();
    const tool: unknown = tools.find((one) => one.name === name);
    const taskSupport = own(own(tool, "execution"), "taskSupport");
    return { serverHasTasks, taskSupport };
  };
}
