// What people do with a console, from beginning to end: a real server beside three replicas on a real Postgres.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { App } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import type { Operator } from "mcp-parley/console";
import pg from "pg";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { by } from "../console/callers.ts";
import { patience } from "../patience.ts";
import { startPostgres } from "../postgres/start.ts";
import type { Postgres } from "../postgres/start.ts";
import { startProgram } from "../programs.ts";
import type { Program } from "../programs.ts";
import { begun, until } from "../wire/task-calls.ts";
import { openBrowser } from "./chromium.ts";
import { shop } from "./console-shop.ts";
import { forgetShifts, goTo, shiftsOf, violationsIn, withPage } from "./console-tools.ts";

/** A replica, and what it has printed. */
class Replica {
  readonly #program: Program;
  readonly #said: string[] = [];

  constructor(program: Program) {
    this.#program = program;
    void this.#listen();
  }

  get pid(): number {
    return this.#program.pid;
  }

  async #listen(): Promise<void> {
    for await (const line of this.#program.lines) this.#said.push(line);
  }

  hasSaid(line: string): boolean {
    return this.#said.includes(line);
  }

  says(line: string): Promise<void> {
    return vi.waitFor(() => {
      if (!this.hasSaid(line)) throw new Error(`The replica has not said "${line}".`);
    }, patience);
  }

  kill(): void {
    this.#program.kill("SIGKILL");
  }
}

let browser: Browser;
let postgres: Postgres;
let app: App;
let at: string;
const folder = mkdtempSync(join(tmpdir(), "shop-"));
const replicas: Replica[] = [];

beforeAll(async () => {
  [browser, postgres] = await Promise.all([openBrowser(), startPostgres()]);
  app = shop({ url: postgres.url, folder });
  const console = operatorConsole(app, {
    authorize: (request) => {
      const operator = request.headers.get("x-operator");
      if (operator === null) return undefined;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this file sends it
      const given = JSON.parse(operator) as Operator;
      return { principal: given.who, ...given };
    },
  });
  const { url } = await app.listen(0, { console, worker: false });
  at = new URL("/console/", url).href;
  const env = { SHOP_URL: postgres.url, SHOP_FOLDER: folder };
  for (let number = 0; number < 3; number++) {
    replicas.push(new Replica(startProgram("test/browser/console-replica.ts", env)));
  }
  await Promise.all(replicas.map((replica) => replica.says("ready")));
});
afterAll(async () => {
  await browser?.close();
  await app?.close();
  for (const replica of replicas) replica.kill();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const customer = by("customer");
const ada: Operator = { who: "ada", groups: ["finance"], may: "act", values: true };
const grace: Operator = { who: "grace", groups: ["finance"], may: "act", values: true };
const vera: Operator = { who: "vera", groups: ["finance"], may: "look" };

const as = <T>(operator: Operator, use: (page: Page) => Promise<T>): Promise<T> => {
  const extraHTTPHeaders = { "x-operator": JSON.stringify(operator) };
  return withPage(browser, { extraHTTPHeaders, bypassCSP: true }, use);
};

const begin = (tool: string, order: number): Promise<string> =>
  begun(app, tool, { order }, customer);

test("from an empty page to an answered approval in three actions", async () => {
  const id = await begin("refund", 88_213);
  await as(ada, async (page) => {
    // 1. Open the console.
    await page.goto(at);
    // 2. Choose to approve, beside what it is about.
    await page.getByText("Refund 1240 € for order 88213?").waitFor();
    await page.getByRole("button", { name: "Approve…" }).click();
    // 3. Confirm.
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await forgetShifts(page);
    await page.getByText("Approved. The task goes on.").waitFor();
    expect(await shiftsOf(page)).toEqual([]);
    await until(app, id, "completed", customer);
    await goTo(page, at, `#/tasks/${id}`);
    await page.getByText("Completed", { exact: true }).waitFor();
    await page.getByRole("option", { name: "pay-out" }).waitFor();
    // Who decided, and how, is in the audit record.
    await page.getByRole("region", { name: "Audit record" }).getByText("ada").first().waitFor();
  });
});

test("the question's own form is checked, and its answer reaches the task, all while the list is live", async () => {
  await as(ada, async (page) => {
    await goTo(page, at, "#/inbox?tool=badge");
    await page.getByText("Nothing waits here").waitFor();
    const id = await begin("badge", 7);
    // It appears without a reload.
    await page.getByRole("button", { name: "Answer…" }).click();
    await page.getByLabel("Badge number").fill("12");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("at least 4").first().waitFor();
    await page.getByLabel("Badge number").fill("A-1234");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Answered. The task goes on.").waitFor();
    const task = await until(app, id, "completed", customer);
    expect(JSON.stringify(task)).toContain("Badge A-1234 for 7.");
  });
});

test("two operators at once: the second sees what the first did, and no answer counts twice", async () => {
  const id = await begin("refund", 5001);
  await as(ada, async (first) => {
    await as(grace, async (second) => {
      for (const page of [first, second]) {
        await goTo(page, at, "#/inbox");
        const card = page.getByRole("article").filter({ hasText: "order 5001" });
        await card.getByRole("button", { name: "Approve…" }).click();
      }
      await forgetShifts(second);
      await first.getByRole("button", { name: "Approve", exact: true }).click();
      await first.getByText("Approved. The task goes on.").waitFor();
      await until(app, id, "completed", customer);
      const card = second.getByRole("article").filter({ hasText: "order 5001" });
      // Whether the news or the click comes first, the second operator learns it where the form was.
      const isClicked = await second
        .getByRole("button", { name: "Approve", exact: true })
        .click({ timeout: 5000 })
        .then(
          () => true,
          () => false,
        );
      if (isClicked) await forgetShifts(second);
      await card
        .locator(".outcome")
        .filter({ hasText: /approved/i })
        .waitFor();
      await card.getByText("ada", { exact: true }).waitFor();
      expect(await shiftsOf(second)).toEqual([]);
    });
  });
});

test("whoever comes too late is told who was first", async () => {
  await begin("refund", 5003);
  await as(ada, async (first) => {
    await as(grace, async (second) => {
      const held: (() => Promise<void>)[] = [];
      await second.route("**/api/decisions", (route) => held.push(() => route.continue()));
      for (const page of [first, second]) {
        await goTo(page, at, "#/inbox");
        const card = page.getByRole("article").filter({ hasText: "order 5003" });
        await card.getByRole("button", { name: page === first ? "Decline…" : "Approve…" }).click();
      }
      await second.getByRole("button", { name: "Approve", exact: true }).click();
      await first.getByRole("button", { name: "Decline", exact: true }).click();
      const own = first.locator(".outcome").filter({ hasText: "Declined. The task is told so." });
      await own.waitFor();
      expect(await own.locator("svg").count()).toBe(0);
      await expect.poll(() => held.length, patience).toBe(1);
      await held[0]?.();
      await second
        .getByText("Your approval came too late and does not count. ada declined first.")
        .waitFor();
    });
  });
});

test("who may only look sees what waits and why, and can change nothing", async () => {
  const id = await begin("refund", 5002);
  await as(vera, async (page) => {
    await goTo(page, at, "#/inbox");
    await page.getByText("You may look").first().waitFor();
    expect(await page.getByRole("button", { name: /Approve|Decline|Answer/ }).count()).toBe(0);
    // Values are not for them.
    expect(await page.content()).not.toContain("5002");
    await goTo(page, at, `#/tasks/${id}`);
    await page.getByRole("option", { name: "load-order" }).click();
    expect(await page.getByRole("button", { name: /Cancel|Run again/ }).count()).toBe(0);
    const tried = await page.evaluate(async (task) => {
      const deeds: readonly (readonly [string, object])[] = [
        [`api/tasks/${task}/cancel`, {}],
        ["api/answers", { task, key: "pay", value: true }],
        ["api/decisions", { task, key: "pay", approve: true }],
      ];
      const headers = { "content-type": "application/json" };
      const sent = deeds.map(([path, body]) =>
        fetch(path, { method: "POST", headers, body: JSON.stringify(body) }),
      );
      return (await Promise.all(sent)).map(({ status }) => status);
    }, id);
    expect(tried).toEqual([403, 403, 403]);
  });
  await until(app, id, ({ status }) => status !== "cancelled", customer);
});

test("a task is cancelled after a confirmation", async () => {
  const id = await begin("refund", 5003);
  await as(ada, async (page) => {
    await goTo(page, at, `#/tasks/${id}`);
    await page.getByRole("button", { name: "Cancel the task" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Go back" }).click();
    await page.getByText("Waiting", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Cancel the task" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the task" }).click();
    await page.getByText("Cancelled", { exact: true }).waitFor();
    expect(await until(app, id, "cancelled", customer)).toMatchObject({ status: "cancelled" });
  });
});

test("which replica died, who took over, and what was not run again", async () => {
  const id = await begin("deliver", 1);
  const dead = await vi.waitFor(() => {
    const driving = replicas.find((replica) => replica.hasSaid("driving"));
    if (driving === undefined) throw new Error("No replica is driving yet.");
    return driving;
  }, patience);
  dead.kill();
  await until(app, id, "completed", customer);
  await as(ada, async (page) => {
    await goTo(page, at, `#/tasks/${id}`);
    await page.getByText(/^\S+ (lost its hold on|died while it held) the task/).waitFor();
    // It counts as dead once it has been silent for 30 seconds. The open page notices.
    const verdict = page.getByText("died while it held the task");
    await verdict.waitFor();
    expect(await verdict.textContent()).toContain(`-${dead.pid}-`);
    expect(await verdict.textContent()).toContain("was not run again");
    expect(await verdict.textContent()).toContain(
      'Step "drive" was not recorded, so run 2 ran it.',
    );
    const runs = page.getByRole("region", { name: "Runs" });
    const taken = runs.getByRole("row").filter({ hasText: "died." });
    expect(await taken.textContent()).toMatch(/took over, \S+ \S+ after its last record/);
    // The step that was recorded was replayed, and the one that was not ran again.
    await page.getByRole("option", { name: "pack" }).click();
    const details = page.getByRole("complementary", { name: "The selected entry" });
    await details.getByText("Replayed in").waitFor();
    await details.getByText(`"packedBy": ${dead.pid}`).waitFor();
    await page.getByRole("option", { name: "drive" }).click();
    await details.getByText("delivered").waitFor();
    expect(await details.getByText("Replayed in").count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);

    await goTo(page, at, "#/health");
    const workers = page.getByRole("region", { name: "Workers" });
    await workers.getByText(`-${dead.pid}-`).waitFor();
  });
});

test("the one stuck task among 100 000 is found, with the reason, in two clicks", async () => {
  const model = await begin("refund", 5004);
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  try {
    const { rows } = await database.query<{ name: string }>(
      "select column_name as name from information_schema.columns where table_schema = 'parley' and table_name = 'tasks' order by ordinal_position",
    );
    const others: Readonly<Record<string, string>> = {
      id: "'filler-' || n",
      call_id: "'filler-call-' || n",
      tool: "case when n = 73512 then 'reindex' else 'refund' end",
      status: "case when n = 73512 then 'working' else 'completed' end",
      // Due for an hour, and no worker has its tool.
      due_at: "case when n = 73512 then created_at - 3600000 end",
      waits: "'[]'",
      worker: "null",
      wait_group: "null",
      wait_since: "null",
      created_at: "created_at - n",
      updated_at: "updated_at - n",
    };
    const values = rows.map(({ name }) => others[name] ?? name).join(", ");
    await database.query(
      `insert into parley.tasks select ${values} from parley.tasks, generate_series(1, 100000) as n where id = $1`,
      [model],
    );
    await database.query("analyze parley.tasks");
  } finally {
    await database.end();
  }
  await as(ada, async (page) => {
    await goTo(page, at, "#/tasks");
    // The line at the top says it on every screen.
    const glance = page.getByRole("complementary", { name: "At a glance" });
    await glance.getByText("One task of reindex is stuck").waitFor();
    await glance.getByText("No worker has taken it").waitFor();
    await page.getByText("Stuck", { exact: true }).last().click();
    await page.getByRole("row").filter({ hasText: "reindex" }).getByRole("link").click();
    await page.getByRole("heading", { name: "reindex" }).waitFor();
    await page.locator(".verdict").getByText("No worker has taken it").waitFor();
    // The whole list can be scrolled through, page after page.
    await goTo(page, at, "#/tasks?status=completed");
    for (let jump = 0; jump < 8; jump++) {
      await page.evaluate(async () => {
        const list = document.querySelector(".scroll");
        list?.scrollTo(0, list.scrollHeight);
        await new Promise((resolve) => requestAnimationFrame(resolve));
      });
    }
    await expect.poll(() => page.locator(".sum").textContent()).toMatch(/^[1-9].\d00/u);
    expect(await page.getByRole("row").count()).toBeLessThan(100);
  });
});

test("the store goes down and comes back, and the page says both", async () => {
  const id = await begin("refund", 5005);
  await as(ada, async (page) => {
    await goTo(page, at, "#/inbox");
    const card = page.getByRole("article").filter({ hasText: "order 5005" });
    await card.getByRole("button", { name: "Approve…" }).waitFor();
    postgres.kill();
    await page.getByText("The store has not answered since").waitFor();
    // What was there stays, and cannot be acted on.
    expect(await card.getByRole("button", { name: "Approve…" }).isDisabled()).toBe(true);
    await postgres.restart();
    await page.getByText("The store has not answered since").waitFor({ state: "detached" });
    await card.getByRole("button", { name: "Approve…" }).click();
    await card.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Approved. The task goes on.").waitFor();
  });
  await vi.waitFor(() => until(app, id, "completed", customer), patience);
});
