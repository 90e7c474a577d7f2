// What has happened in the shop before the pictures of its console are taken, over three days: real calls, on a real Postgres.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { App } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import type { Operator } from "mcp-parley/console";
import pg from "pg";
import { by } from "../console/callers.ts";
import { startPostgres } from "../postgres/start.ts";
import type { Postgres } from "../postgres/start.ts";
import { startProgram } from "../programs.ts";
import type { Answer } from "../wire/post.ts";
import { ask, begun, call } from "../wire/task-calls.ts";
import { until } from "./chromium.ts";
import { storyApp } from "./story-app.ts";
import type { Tickets } from "./story-app.ts";
import { moveClock, moveDatabaseClock } from "./story-clock.ts";

const minute = 60_000;
const hour = 60 * minute;

/** The console, and the tasks that have something to show. */
export interface Story {
  readonly at: string;
  readonly tasks: Readonly<Record<"refund" | "large" | "stuck" | "cancelled", string>>;
  /** Begins a task that waits for an approval. */
  readonly deploy: (version: string) => Promise<void>;
  readonly postgres: Postgres;
  readonly close: () => Promise<void>;
}

/** Tells the story, and opens the console of its end. */
export async function tellStory(): Promise<Story> {
  const folder = mkdtempSync(join(tmpdir(), "story-"));
  const postgres = await startPostgres();
  const scene = new Scene(postgres.url, folder);
  await scene.prepare();
  await ordinaryDays(scene);
  const own = await refunds(scene);
  const cancelled = await scene.at(20 * hour, async (app) => {
    const id = await scene.refund(app, 90_102, "bob@example.com");
    await ask(app, "tasks/cancel", id, by("bob@example.com"));
    await scene.undone(id);
    return id;
  });
  await scene.at(3 * hour, (app) => scene.begin(app, "deploy", { ...checkout, version: "4.18.2" }));
  await scene.at(40 * minute, (app) => scene.begin(app, "onboard", { name: "Mei Tanaka" }, west));
  const large = await scene.at(12 * minute, async (app) => {
    const id = await begun(app, "import_csv", { file: "customers.csv", batches: 490 }, bob);
    await scene.over(id);
    return id;
  });
  // The version that has been deployed since does not have the tool.
  const stuck = await scene.at(
    10 * minute,
    (app) => scene.begin(app, "reindex", { index: "products" }, west),
    { isOld: true },
  );
  await scene.at(5 * minute, (app) =>
    scene.begin(app, "import_csv", { file: "leads.csv", batches: 0 }, bob),
  );

  const app = await scene.now();
  const { url } = await app.listen(0, { console: operatorConsole(app, { authorize }) });
  const deploy = async (version: string): Promise<void> => {
    await scene.begin(app, "deploy", { ...checkout, version });
  };
  await deploy("5.0.1");
  await scene.decide(app, "deploy 5.0.1", true);
  await asked(app, 91_002, "ada@example.com");
  await asked(app, 91_003, "bob@example.com", "As a voucher");
  await refused(app);
  return {
    at: new URL("/console/", url).href,
    tasks: { refund: own, large, stuck, cancelled },
    deploy,
    postgres,
    close: async () => {
      await app.close();
      await scene.end();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const ci = by("ci-bot");
const bob = by("bob@example.com");
const west = by("team-west");
const checkout = { service: "checkout" };

function authorize(request: Request): Operator | undefined {
  const operator = request.headers.get("x-operator");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the pictures send it
  return operator === null ? undefined : (JSON.parse(operator) as Operator);
}

/** The server and its store, at one time or another. */
class Scene {
  readonly #place: { readonly url: string; readonly folder: string };
  readonly #tickets: Tickets = new Map();
  readonly #database: pg.Pool;

  constructor(url: string, folder: string) {
    this.#place = { url, folder };
    this.#database = new pg.Pool({ connectionString: url, max: 1 });
    this.#database.on("error", () => {});
  }

  /** Lets something happen at another time. */
  async at<T>(
    ago: number,
    happens: (app: App) => Promise<T>,
    { isOld = false }: { readonly isOld?: boolean } = {},
  ): Promise<T> {
    const app = await this.#opened(-ago, isOld);
    try {
      return await happens(app);
    } finally {
      await app.close();
    }
  }

  /** Makes the tables, whose clock can be moved then. */
  async prepare(): Promise<void> {
    const app = storyApp(this.#place);
    await app.work();
    await app.close();
  }

  now(): Promise<App> {
    return this.#opened(0, false);
  }

  async #opened(shiftMs: number, isOld: boolean): Promise<App> {
    moveClock(shiftMs);
    const app = storyApp({ ...this.#place, isOld }, this.#tickets);
    await moveDatabaseClock(this.#database, shiftMs);
    await app.work();
    return app;
  }

  /** Begins a task and waits until it waits. */
  async begin(app: App, tool: string, args: object, caller = ci): Promise<string> {
    const id = await begun(app, tool, args, caller);
    await this.parked(id);
    return id;
  }

  /** A refund that waits for its money to settle. */
  async refund(app: App, order: number, principal: string): Promise<string> {
    const { result } = await asked(app, order, principal, "To the card");
    const id = String(result?.["taskId"]);
    await this.parked(id);
    await app.deliver(this.#ticket(`refund ${order}`), { invoice: `R-2026-${order}` });
    await this.parked(id, "settle");
    // Its client asks how it stands, so the task does not end because nobody wants it.
    await ask(app, "tasks/get", id, by(principal));
    return id;
  }

  /** Waits until a task waits, for this if it is given. */
  async parked(id: string, key = ""): Promise<void> {
    await this.#isSo(id, "worker is null and jsonb_path_exists(waits, $2)", [
      key === "" ? "$[*]" : `$[*] ? (@.key == "${key}")`,
    ]);
  }

  async over(...ids: readonly string[]): Promise<void> {
    for (const id of ids)
      await this.#isSo(id, "status in ('completed', 'failed', 'cancelled')", []);
  }

  /** Waits until a task has ended and its steps are undone. */
  async undone(id: string): Promise<void> {
    await this.#isSo(id, "undos = 0 and worker is null", []);
  }

  async #isSo(id: string, condition: string, values: readonly string[]): Promise<void> {
    const query = `select 1 from parley.tasks where id = $1 and ${condition}`;
    await until(async () => (await this.#database.query(query, [id, ...values])).rowCount === 1);
  }

  #ticket(name: string): string {
    const ticket = this.#tickets.get(name);
    if (ticket === undefined) throw new Error(`Nobody was told of "${name}".`);
    return ticket;
  }

  async deliver(app: App, name: string, value: object): Promise<void> {
    await app.deliver(this.#ticket(name), value);
  }

  async decide(app: App, name: string, approve: boolean, note?: string): Promise<void> {
    const groups = ["finance", "release"];
    await app.decide(this.#ticket(name), { who: "grace", groups, approve, note });
  }

  /** A replica takes over what is due, and is killed while it books a carrier. */
  async lose(ago: number): Promise<void> {
    await moveDatabaseClock(this.#database, -ago);
    const { url, folder } = this.#place;
    const env = { STORY_URL: url, STORY_FOLDER: folder, STORY_SHIFT: String(-ago) };
    const replica = startProgram("test/browser/story-replica.ts", env);
    for await (const line of replica.lines) {
      if (line === "booking") break;
    }
    replica.kill("SIGKILL");
  }

  /** The carrier of an order comes. */
  book(order: number): void {
    writeFileSync(join(this.#place.folder, `order-${order}`), "");
  }

  end(): Promise<void> {
    return this.#database.end();
  }
}

/** Three days in which nothing special happens. */
async function ordinaryDays(scene: Scene): Promise<void> {
  for (const [index, ago] of [74, 73.2, 50.5, 49, 30, 27.4, 8.1, 7.9].entries()) {
    await scene.at(ago * hour, (app) => ordinary(scene, app, index), { isOld: true });
  }
}

async function ordinary(scene: Scene, app: App, index: number): Promise<void> {
  const names = ["Jonas Weber", "Aiko Sato", "Priya Nair", "Tomás Ruiz", "Ines Roth", "Sam Lee"];
  const name = names[index] ?? `Trainee ${index}`;
  const version = `4.1${index}.0`;
  const onboard = await begun(app, "onboard", { name }, west);
  const deploy = await begun(app, "deploy", { ...checkout, version }, ci);
  const load = await begun(app, "import_csv", { file: `orders-${index}.csv`, batches: 3 }, bob);
  const warehouse = index % 3 === 1 ? "Graz" : "Linz";
  const sync = await begun(app, "sync_stock", { warehouse }, west);
  await scene.parked(onboard);
  await scene.deliver(app, `onboard ${name}`, { number: `A-10${index}`, floor: "2" });
  await scene.parked(deploy);
  const isTooLate = index % 4 === 2;
  const note = isTooLate ? "Not before the weekend." : undefined;
  await scene.decide(app, `deploy ${version}`, !isTooLate, note);
  await scene.over(onboard, deploy, load, sync);
}

/** Two refunds that finance has to decide about. The replica that ran the second one died. */
async function refunds(scene: Scene): Promise<string> {
  scene.book(90_417);
  const first = await scene.at(26 * hour, (app) => scene.refund(app, 90_417, "ci-bot"));
  await scene.at(26 * hour - 3 * minute, () => scene.parked(first, "pay"));
  await scene.at(2 * hour, (app) =>
    scene.decide(app, "pay 90417", true, "I have checked the invoice."),
  );
  const began = 3.4 * hour;
  const id = await scene.at(began, async (app) => {
    const { result } = await asked(app, 88_213, "ci-bot", "To the card");
    const task = String(result?.["taskId"]);
    await scene.parked(task, "invoice");
    return task;
  });
  await scene.at(began - 31 * minute, async (app) => {
    await scene.deliver(app, "refund 88213", { invoice: "R-2026-0418" });
    await scene.parked(id, "settle");
    await ask(app, "tasks/get", id, ci);
  });
  await scene.lose(began - 33.2 * minute);
  await scene.at(began - 34 * minute, () => scene.parked(id, "pay"));
  return id;
}

// ---------------------------------------------------------------- calls of rounds

/** A call that asks how to pay back, and is answered if there is an answer. */
async function asked(app: App, order: number, principal: string, as?: string): Promise<Answer> {
  const args = { order, reason: "Damaged" };
  const first = await call(app, "refund", args, by(principal));
  return as === undefined
    ? first
    : call(app, "refund", args, { ...by(principal), ...answer(first, as) });
}

const answer = ({ result }: Answer, as: string) => ({
  requestState: String(result?.["requestState"]),
  inputResponses: { how: { action: "accept", content: { as } } },
});

/** Someone changes the state of a call, and then its arguments. */
async function refused(app: App): Promise<void> {
  const order = 91_004;
  const leg = { ...by("mallory"), ...answer(await asked(app, order, "mallory"), "To the card") };
  const { requestState: state } = leg;
  const requestState = `${state.slice(0, 80)}AAAA${state.slice(84)}`;
  await call(app, "refund", { order, reason: "Damaged" }, { ...leg, requestState });
  await call(app, "refund", { order: 1, reason: "Damaged" }, leg);
}
