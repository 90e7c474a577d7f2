// SQLite stores that each release left behind. Every later release must continue what is in them.

import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sqliteStore } from "mcp-parley/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { accept } from "../wire/post.ts";
import { callAs, goldenApp, taskAs, taskWith } from "./tasks.ts";
import type { GoldenTasks } from "./tasks.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const versions = readdirSync(here).filter((name) => existsSync(join(here, name, "tasks.db")));

test("there is a store of version 0.1.0", () => {
  expect(versions).toContain("0.1.0");
});

describe.each(versions)("a store that %s wrote", (version) => {
  const known: GoldenTasks = JSON.parse(readFileSync(join(here, version, "tasks.json"), "utf8"));

  function opened() {
    const folder = mkdtempSync(join(tmpdir(), "parley-golden-"));
    const path = join(folder, "tasks.db");
    copyFileSync(join(here, version, "tasks.db"), path);
    const ran: string[] = [];
    const logged: string[] = [];
    const log = (message: string) => void logged.push(message);
    const logger = { debug: () => {}, info: () => {}, warn: log, error: log };
    const store = sqliteStore(path);
    const app = goldenApp(path, known.key, { store, ran, logger });
    onTestFinished(async () => {
      await app.close();
      await store.close();
      rmSync(folder, { recursive: true });
    });
    return { app, ran, logged };
  }

  const textOf = (result: unknown) => JSON.stringify(result);

  test("shows its ended tasks", async () => {
    const { app } = opened();
    const completed = await taskAs(app, "ada", "tasks/get", known.completed);
    expect(textOf(completed.result)).toContain("Rex");
    const threw = await taskAs(app, "ada", "tasks/get", known.threw);
    expect(threw.result).toMatchObject({ result: { isError: true } });
    const foreign = await taskAs(app, "bo", "tasks/get", known.completed);
    expect(foreign.error).toMatchObject({ message: "No such task" });
  });

  test("continues its tasks, and repeats no step of theirs", async () => {
    const { app, ran, logged } = opened();
    await app.work();
    for (const id of [known.parked, known.due]) {
      const asked = await taskWith(app, "ada", id, "input_required");
      expect(asked.result).toMatchObject({ inputRequests: { name: expect.anything() } });
      const answers = { inputResponses: { name: accept({ name: "Ida" }) } };
      await taskAs(app, "ada", "tasks/update", id, answers);
      const { result } = await taskWith(app, "ada", id, "completed");
      expect(textOf(result)).toContain("Ida");
    }
    // Only the task that no worker had run yet had this step before it.
    expect(ran).toEqual(["make"]);
    expect(textOf(await app.deliver(known.ticket, { ok: true }))).toContain("delivered");
    const { result } = await taskWith(app, "bo", known.waiting, "completed");
    expect(textOf(result)).toContain("approved");
    expect(logged).toEqual([]);
  });

  test("holds the states and the recorded rounds of calls that are not tasks", async () => {
    const { app, ran } = opened();
    const named = {
      requestState: known.spilled,
      inputResponses: { name: accept({ name: "Ada" }) },
    };
    const { result } = await callAs(app, "ada", "large", {}, named);
    expect(textOf(result)).toContain("Ada 50000");
    const { requestState, response } = known.round;
    const leg = { requestState, inputResponses: { sum: accept({ sum: 12 }) } };
    expect((await callAs(app, "ada", "pay", {}, leg)).result).toEqual(response);
    expect(ran).toEqual([]);
  });
});
