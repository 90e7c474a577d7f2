// Calls that end badly in the rounds of a tool with `once: true` (R16, U6): a worker undoes what they have begun, even
// if the process dies before it has stored its response.

import { afterEach, expect, test, vi } from "vitest";
import { patience } from "../../../test/patience.ts";
import { Stop } from "../../replay/stop.ts";
import { MemoryStore } from "../../tasks/stores/memory.ts";
import { newKey } from "../../token/keyring.ts";
import { registeredAs } from "../define/handles.ts";
import { parley } from "../parley.ts";
import type { RoundRequest, RoundResponse } from "./request.ts";
import { serveRound } from "./round.ts";

const keys = newKey("test");
const nothing = () => {};
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const accepted = { make: { action: "accept", content: {} } };

const apps: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

/** A cloud: what was made, and what was taken back, by the keys that it was given. */
interface Cloud {
  readonly made: string[];
  readonly undone: string[];
}

/** One process. `during` is what its second step does. */
function replica(
  store: MemoryStore,
  { made, undone }: Cloud,
  during: (signal: AbortSignal) => unknown,
) {
  const app = parley({ name: "cloud", version: "1.0.0", keys, logger, store });
  apps.push(app);
  const remove = app.undo("remove", ({ undoKey, value }) => {
    undone.push(`${undoKey.split("/")[1]} ${JSON.stringify(value)}`);
  });
  let runs = 0;
  const tool = app.tool("make", { once: true }, async (ctx) => {
    runs += 1;
    if (!(await ctx.confirm("make", "Make them?"))) return "nothing";
    await ctx.step("a", () => (made.push("a"), "a"), { undo: remove });
    await ctx.step(
      "b",
      async ({ signal }) => {
        made.push("b");
        await during(signal);
        return "b";
      },
      { undo: remove },
    );
    throw new Error("It is not wanted.");
  });
  const { core, definition } = registeredAs(tool);
  const serve = (more: Partial<RoundRequest> = {}): Promise<RoundResponse> =>
    serveRound(core, definition, {
      target: "make",
      arguments: {},
      capabilities: { elicitation: { form: {} } },
      principal: "ada",
      facts: { meta: {} },
      ...more,
    });
  return { app, serve, runs: () => runs };
}

/** The round that brings the client's yes. */
async function confirmed(serve: (more?: Partial<RoundRequest>) => Promise<RoundResponse>) {
  const first = await serve();
  if (first.kind !== "input_required") throw new Error(`The first round ended as ${first.kind}.`);
  return { requestState: first.result.requestState, inputResponses: accepted };
}

test("if a client cancels the round, its steps are undone, and a copy of the round runs nothing", async () => {
  const store = new MemoryStore();
  const cloud: Cloud = { made: [], undone: [] };
  const stop = new Stop();
  const { app, serve } = replica(store, cloud, (signal) => {
    // The body is aborted, and what it still made is undone as well.
    stop.stop("Cancelled");
    expect(signal.aborted).toBe(true);
  });
  const round = await confirmed(serve);
  expect(await serve({ ...round, stop })).toMatchObject({ kind: "none" });
  expect(await store.figures()).toMatchObject({ live: 0, undoing: 1 });
  expect(cloud.undone).toEqual([]);
  await app.work();
  await vi.waitFor(() => expect(cloud.undone).toEqual(['b~undo "b"', 'a~undo "a"']), patience);
  await vi.waitFor(
    async () => expect(await store.figures()).toMatchObject({ undoing: 0 }),
    patience,
  );
  expect(await serve(round)).toMatchObject({ kind: "error", data: { reason: "cancelled" } });
  expect(cloud.made).toEqual(["a", "b"]);
});

/** The store of a process that dies when it stores its response. From then on, every operation of this store fails. */
function dyingAtResponse(store: MemoryStore): { store: MemoryStore; hasDied: () => boolean } {
  let hasCreated = false;
  let isDead = false;
  const died = () => Promise.reject(new Error("This process is dead."));
  const dying = new Proxy(store, {
    get: (target, name: string) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function" || name === "subscribe") return member;
      return async (...given: unknown[]) => {
        if (name === "endRound" && hasCreated) isDead = true;
        if (isDead) return died();
        const result: unknown = await Reflect.apply(member, target, given);
        if (name === "create") hasCreated = true;
        return result;
      };
    },
  });
  return { store: dying, hasDied: () => isDead };
}

test.each([
  ["failed", { kind: "complete", result: { isError: true } }, "It is not wanted."],
  ["was cancelled", { kind: "error", data: { reason: "cancelled" } }, "This call was cancelled"],
])(
  "if the process dies between the ended row and the response of a call that %s, a copy gets the response and runs nothing",
  async (how, expected, text) => {
    const store = new MemoryStore({ leaseMs: 100 });
    const cloud: Cloud = { made: [], undone: [] };
    const dying = dyingAtResponse(store);
    const stop = new Stop();
    const first = replica(dying.store, cloud, () => {
      if (how === "was cancelled") stop.stop("Cancelled");
    });
    const round = await confirmed(first.serve);
    const lost = await first.serve({ ...round, stop });
    expect(lost).toMatchObject({ data: { reason: "store_unavailable" } });
    expect(dying.hasDied()).toBe(true);
    const second = replica(store, cloud, nothing);
    const response = await second.serve(round);
    expect(response).toMatchObject(expected);
    expect(JSON.stringify(response)).toContain(text);
    expect(second.runs()).toBe(0);
    expect(await store.figures()).toMatchObject({ live: 0, undoing: 1 });
    await second.app.work();
    await vi.waitFor(
      async () => expect(await store.figures()).toMatchObject({ undoing: 0 }),
      patience,
    );
    expect(cloud).toEqual({ made: ["a", "b"], undone: ['b~undo "b"', 'a~undo "a"'] });
    expect(await second.serve(round)).toEqual(response);
  },
);
