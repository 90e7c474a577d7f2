// Undo as an author writes it (R16), played by the test kit: in tasks and in rounds of tools with `once: true`.

import { memoryStore, parley } from "mcp-parley";
import type { Undo } from "mcp-parley";
import { crashTest, declined, play } from "mcp-parley/testing";
import { beforeEach, describe, expect, test } from "vitest";

interface Vm {
  readonly id: string;
}

/** A cloud that knows its machines by the keys that they were made with. */
const machines = new Map<string, Vm>();
const deleted: string[] = [];
beforeEach(() => {
  machines.clear();
  deleted.length = 0;
});

const app = parley({ name: "cloud", version: "1.0.0", store: memoryStore() });
// #region undo
const deleteVm = app.undo<Vm>("delete_vm", ({ value, idempotencyKey }) => {
  machines.delete(idempotencyKey);
  deleted.push(value?.id ?? "unknown");
});
// #endregion
const create = (idempotencyKey: string): Vm => {
  const vm = { id: `vm-${idempotencyKey.split("/")[1]}` };
  machines.set(idempotencyKey, vm);
  return vm;
};

// #region tool
const asTask = app.tool("as_task", { task: "optional" }, async (ctx) => {
  await ctx.background();
  const one = await ctx.step("one", ({ idempotencyKey }) => create(idempotencyKey), {
    undo: deleteVm,
  });
  if (!(await ctx.confirm("sure", `Keep ${one.id}?`))) throw new Error("Not wanted.");
  await ctx.step("two", ({ idempotencyKey }) => create(idempotencyKey), { undo: deleteVm });
  return "kept";
});
// #endregion

const inRounds = app.tool("in_rounds", { once: true }, async (ctx) => {
  if (!(await ctx.confirm("make", "Make it?"))) return "nothing";
  await ctx.step("one", ({ idempotencyKey }) => create(idempotencyKey), { undo: deleteVm });
  await ctx.step("two", ({ idempotencyKey }) => create(idempotencyKey), { undo: deleteVm });
  await ctx.ask("name", "Its name?");
  return "kept";
});

describe.each([
  ["a task", asTask, { sure: false }, { sure: true }, ["vm-one"]],
  [
    "rounds with once",
    inRounds,
    { make: true, name: declined },
    { make: true, name: "web" },
    ["vm-two", "vm-one"],
  ],
] as const)("%s", (_, tool, fails, succeeds, undone) => {
  test("that fails is undone, the last step first", async () => {
    const call = await play(tool, {}, fails);
    expect(call.isError).toBe(true);
    expect(deleted).toEqual(undone);
    expect([call.ran("one"), call.undid("one")]).toEqual([1, 1]);
    expect(machines.size).toBe(0);
    expect(call.transcript).toContain("undoes");
  });

  test("that succeeds is not", async () => {
    const call = await play(tool, {}, succeeds);
    expect(call.text).toBe("kept");
    expect([call.undid("one"), call.undid("two"), deleted.length]).toEqual([0, 0, 0]);
    expect(machines.size).toBe(2);
  });
});

describe("crashTest", () => {
  test("kills the worker at every undo, and no undo is lost", async () => {
    const { plays } = await crashTest(
      asTask,
      {},
      { sure: false },
      { reset: () => machines.clear() },
    );
    expect(plays).toBe(8);
    expect(deleted.length).toBeGreaterThanOrEqual(plays);
  });

  test("kills the process of a round with once at every step, and no undo is lost", async () => {
    const { plays, repeats } = await crashTest(
      inRounds,
      {},
      { make: true, name: declined },
      { reset: () => machines.clear() },
    );
    expect(plays).toBeGreaterThan(10);
    // A body that was killed before it was recorded runs again, with the same key.
    expect(repeats.map(({ step, key }) => `${step} ${key}`)).toEqual(["one same", "two same"]);
    expect(machines.size).toBe(0);
  });

  test("reports an undo that is lost", async () => {
    let plays = 0;
    const other = parley({ name: "forgetful", version: "1.0.0", store: memoryStore() });
    const undo = other.undo("forget", () => {});
    const tool = other.tool("tool", { task: "optional" }, async (ctx) => {
      await ctx.background();
      plays += 1;
      // Only the first play has an undo.
      await ctx.step("a", ({ idempotencyKey }) => idempotencyKey, plays === 1 ? { undo } : {});
      throw new Error("no");
    });
    await expect(crashTest(tool, {})).rejects.toThrow('step "a" was not undone.');
  });
});

describe("a mistake", () => {
  test("is a step with an undo in a round that can be repeated", async () => {
    const tool = app.tool("no_once", {}, async (ctx) => {
      // @ts-expect-error -- it needs once: true, or task: "optional"
      await ctx.step("create", () => ({ id: "a" }), { undo: deleteVm });
      return "";
    });
    await expect(play(tool, {})).rejects.toMatchObject({
      code: "bad_option",
      message:
        'Step "create" of "no_once" has an undo, but it runs in a round and a repeated request would run it again.\n' +
        "Add once: true to the tool's config, or call ctx.background() before the step.",
    });
    expect(machines.size).toBe(0);
  });

  test("is a name in place of an undo", async () => {
    const tool = app.tool("by_name", { task: "required" }, async (ctx) => {
      // @ts-expect-error -- a name is not an undo
      await ctx.step("create", () => ({ id: "a" }), { undo: "delete_vm" });
      return "";
    });
    // The task needs the background first, so the mistake shows in its round.
    await expect(play(tool, {})).rejects.toMatchObject({
      message:
        'Step "create" has undo: "delete_vm". Pass the value that app.undo("delete_vm", …) returned, not its name.',
    });
  });

  test("is an undo of another app", async () => {
    const other = parley({ name: "other", version: "1.0.0" });
    const foreign: Undo<Vm> = other.undo<Vm>("delete_vm", () => {});
    const tool = app.tool("foreign", { once: true }, async (ctx) => {
      await ctx.step("create", () => ({ id: "a" }), { undo: foreign });
      return "";
    });
    await expect(play(tool, {})).rejects.toMatchObject({
      message:
        'Step "create" has an undo of another app. Register it with app.undo() on the app that has the tool.',
    });
  });

  test("is a name that is registered twice", () => {
    expect(() => app.undo("delete_vm", () => {})).toThrow(
      new TypeError(
        'app.undo("delete_vm") was called twice. Recorded steps refer to an undo by its name, so each needs its own.',
      ),
    );
  });

  test("is an undo that does not accept what the step returns", () => {
    const renames = app.undo<{ readonly name: string }>("rename_back", () => {});
    const any = app.undo("any", () => {});
    app.tool("typed", { once: true }, async (ctx) => {
      await ctx.step("any", () => 1, { undo: any });
      await ctx.step("more", () => ({ id: "a", name: "b" }), { undo: renames });
      // @ts-expect-error -- it returns no name
      await ctx.step("less", () => ({ id: "a" }), { undo: renames });
      return "";
    });
  });
});
