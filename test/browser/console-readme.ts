// The pictures that the README shows: a real app and its replicas on a real Postgres. One replica is killed in the middle of a
// step, and another one takes its task over.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { operatorConsole } from "mcp-parley/console";
import type { Browser, Page } from "playwright-core";
import { by } from "../console/callers.ts";
import { startPostgres } from "../postgres/start.ts";
import { startProgram } from "../programs.ts";
import { begun } from "../wire/task-calls.ts";
import { shop } from "./console-shop.ts";
import { goTo, withPage } from "./console-tools.ts";

const ada = { who: "ada", groups: ["finance"], may: "act", values: true } as const;

/** Writes `inbox.png` and `task.png` to this folder. */
export async function takeForReadme(browser: Browser, folder: string): Promise<void> {
  const notes = mkdtempSync(join(tmpdir(), "shop-"));
  const postgres = await startPostgres();
  const app = shop({ url: postgres.url, folder: notes });
  const desk = operatorConsole(app, { authorize: () => ada });
  const { url } = await app.listen(0, { console: desk, worker: false });
  const at = new URL("/console/", url).href;
  const env = { SHOP_URL: postgres.url, SHOP_FOLDER: notes };
  const replicas = [1, 2].map(() => startProgram("test/browser/console-replica.ts", env));
  try {
    const task = await begun(app, "ship", { order: 88_213 }, by("ci-bot"));
    await Promise.race(
      replicas.map(async (replica) => {
        for await (const line of replica.lines) {
          if (line === "driving") return replica.kill("SIGKILL");
        }
        return undefined;
      }),
    );
    await begun(app, "refund", { order: 90_417 }, by("bob@example.com"));
    await begun(app, "badge", { order: 7 }, by("team-west"));
    const take = (name: string, place: string, colorScheme: "light" | "dark", height: number) =>
      withPage(browser, { colorScheme, viewport: { width: 1200, height } }, async (page) => {
        await goTo(page, at, place);
        await page.getByText("Live", { exact: true }).waitFor();
        await before[name]?.(page);
        await page.mouse.move(0, 0);
        await page.screenshot({ path: `${folder}/${name}.png` });
      });
    await take("inbox", "#/inbox", "light", 640);
    await take("task", `#/tasks/${task}`, "dark", 760);
  } finally {
    await app.close();
    for (const replica of replicas) replica.kill("SIGKILL");
    await postgres.stop();
    rmSync(notes, { recursive: true, force: true });
  }
}

const before: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  task: async (page) => {
    await page.getByText("It waits for group finance to approve").waitFor();
    await page.getByRole("option", { name: "reserve-stock" }).click();
    // Until it has waited long enough to be seen.
    await page.waitForTimeout(10_000);
  },
  inbox: async (page) => {
    await page.getByText("Pay 1240 €").waitFor();
    await page.getByText("Refund 1240 €").waitFor();
    await page.getByRole("button", { name: "Answer…" }).waitFor();
  },
};
