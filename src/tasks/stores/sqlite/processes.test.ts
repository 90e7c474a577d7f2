// Several processes on one file, and one that is killed.

import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { start } from "../../../../examples/child.ts";
import type { Child } from "../../../../examples/child.ts";
import { newPath } from "./folder.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

const child = fileURLToPath(new URL("child.fixture.ts", import.meta.url));
const timeoutMs = 120_000;

function begin(path: string, does: "create" | "work", name: string): Child {
  const started = start(child, { PARLEY_DB: path, PARLEY_DOES: does, PARLEY_NAME: name });
  onTestFinished(() => started.kill("SIGKILL"));
  return started;
}

function open(path: string): SqliteStore {
  const store = new SqliteStore({ path });
  onTestFinished(() => store.close());
  return store;
}

const newTask = (id: string, tool = "tool") => {
  const texts = { id, callId: id, tool, principal: "", input: id };
  return { ...texts, log: [], inbox: [], ttlMs: 3_600_000, claimedBy: undefined };
};

test(
  "processes that start at once share a new file, and no task is done twice",
  async () => {
    const path = newPath();
    const children = ["one", "two", "three"].map((name) => begin(path, "work", name));
    const names = Array.from({ length: 120 }, (_, index) => `task-${index}`);
    const store = open(path);
    const done: string[] = [];
    let ready = 0;
    const read = async ({ lines }: Child) => {
      for await (const line of lines) {
        if (line !== "ready") done.push(line);
        else if ((ready += 1) === children.length)
          void Promise.all(names.map((id) => store.create(newTask(id), 1_000)));
        if (done.length === names.length) void store.create(newTask("stop", "other"), 1_000);
      }
    };
    await Promise.all(children.map(read));
    expect(done.toSorted()).toEqual(names.map((id) => `${id} true`).toSorted());
    for (const id of names) {
      const task = await store.read(id);
      expect(task).toMatchObject({ status: "completed", epoch: 1 });
      expect(await store.readLog(id)).toEqual([task?.result]);
    }
  },
  timeoutMs,
);

test(
  "acknowledged writes are there after kill -9 at any moment",
  async () => {
    const path = newPath();
    const seed = Math.floor(Math.random() * 300);
    for (const [round, until] of [seed, seed + 50, 1].entries()) {
      const { lines, kill } = begin(path, "create", `round-${round}`);
      const acknowledged: string[] = [];
      // What is in the pipe when the process dies was written before, so it is read to the end.
      for await (const line of lines) {
        acknowledged.push(line);
        if (acknowledged.length === until + 1) kill("SIGKILL");
      }
      expect(acknowledged.length, `seed ${seed}`).toBeGreaterThan(until);
      const store = new SqliteStore({ path });
      const revisions = await store.revisions(acknowledged);
      expect(
        acknowledged.filter((id) => !revisions.has(id)),
        `seed ${seed}`,
      ).toEqual([]);
      const logs = await Promise.all(acknowledged.map((id) => store.readLog(id)));
      expect(logs).toEqual(acknowledged.map((id) => [id, id]));
      await store.close();
    }
  },
  timeoutMs,
);
