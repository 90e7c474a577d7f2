// The example for Cloudflare, with what a test needs: it can move the clock and the alarm, hold a step, and run the store's
// contract inside an object.

import { ahead, move } from "./clock.ts";
import { env } from "cloudflare:workers";
import { taskObject } from "mcp-parley/durable-object";
import type { ObjectState } from "mcp-parley/durable-object";
import { app } from "../../../examples/cloudflare/worker.ts";

const held = { isOn: false };
let starts = 0;

app.tool("hold", { description: "A step that a test holds", task: "required" }, async (ctx) => {
  await ctx.background();
  return ctx.step("hold", async () => {
    starts += 1;
    while (held.isOn) await new Promise((resolve) => void setTimeout(resolve, 10));
    return `start ${starts}`;
  });
});

app.tool("report", { description: "A stream that a test holds", task: "required" }, async (ctx) => {
  await ctx.background();
  return ctx.stream("draft", async function* () {
    yield "One, ";
    while (held.isOn) await new Promise((resolve) => void setTimeout(resolve, 10));
    yield "two.";
  });
});

const megabytes = (count: number) => "x".repeat(count * 1024 * 1024);
app.tool("large_step", { description: "A large step", task: "required" }, async (ctx) => {
  await ctx.background();
  await ctx.step("render", () => megabytes(3));
  return "done";
});
app.tool("large_result", { description: "A large result", task: "required" }, async (ctx) => {
  await ctx.background();
  return megabytes(3);
});

interface Alarm {
  getAlarm(): Promise<number | null>;
}
type State = ObjectState & { readonly storage: Alarm };

/** The platform's own way to set the alarm. The object sets it by the clock of the test. */
function movable({ storage }: ObjectState): (at: number) => Promise<void> {
  const setAlarm = storage.setAlarm.bind(storage);
  Object.assign(storage, { setAlarm: (at: number) => setAlarm(at - ahead()) });
  return setAlarm;
}

export class Tasks extends taskObject(app) {
  readonly #storage: State["storage"];
  readonly #setAlarm: (at: number) => Promise<void>;

  constructor(state: State, given: unknown) {
    const setAlarm = movable(state);
    super(state, given);
    this.#storage = state.storage;
    this.#setAlarm = setAlarm;
  }

  /** How long until a task is due. */
  dueIn(): number | null {
    const due = "select min(due_at) as at from tasks where due_at is not null";
    const at = this.#storage.sql.exec(due).toArray()[0]?.["at"];
    return typeof at === "number" ? at - Date.now() : null;
  }

  async moveAlarm(ms: number): Promise<void> {
    const at = await this.#storage.getAlarm();
    if (at !== null) await this.#setAlarm(at - ms);
  }
}

/** What the test asks for. */
async function serveTest(url: URL): Promise<unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the class above
  const object = env.TASKS.get(env.TASKS.idFromName("parley") as never) as Tasks;
  switch (url.pathname) {
    case "/test/move": {
      const ms = Number(url.searchParams.get("ms"));
      move(ms);
      return object.moveAlarm(ms);
    }
    case "/test/due":
      return object.dueIn();
    case "/test/hold":
      held.isOn = true;
      return true;
    case "/test/release":
      held.isOn = false;
      return true;
    case "/test/starts":
      return starts;
    default:
      throw new Error(`There is no ${url.pathname}.`);
  }
}

// oxlint-disable-next-line import/no-default-export -- the form of a Worker
export default {
  async fetch(request: Request, given: unknown, host: { waitUntil(work: Promise<unknown>): void }) {
    const url = new URL(request.url);
    if (!url.pathname.startsWith("/test/")) return app.fetch(request, host);
    return Response.json((await serveTest(url)) ?? null);
  },
};
