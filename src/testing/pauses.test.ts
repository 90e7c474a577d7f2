// Calls of clients that cannot be asked, played by the test kit.

import { memoryStore, parley } from "mcp-parley";
import { cancelled, declined, play, timedOut } from "mcp-parley/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const app = parley({ name: "tracker", version: "1.0.0", store: memoryStore(), relay: true });
// #region tool
const resolve = app.tool(
  "resolve_bug",
  { inputSchema: z.object({ id: z.int() }) },
  async ({ id }, ctx) => {
    const how = await ctx.choose("how", `How was #${id} resolved?`, ["Fixed", "Duplicate"], {
      relay: true,
    });
    if (!(await ctx.confirm("sure", "Close it?", { relay: true }))) return "Left open.";
    await ctx.step("close", () => `closed ${id}`);
    return `#${id} closed as ${how}`;
  },
);
// #endregion

describe("play with a client that cannot be asked", () => {
  test("lets a model relay the questions, and shows what it was told", async () => {
    // #region play
    const call = await play(resolve, { id: 7 }, { how: "Fixed", sure: true }, { client: "chat" });
    expect(call.text).toBe("#7 closed as Fixed");
    expect(call.pauses).toHaveLength(2);
    expect(call.pauses[0]).toContain("How was #7 resolved?");
    expect(call.ran("close")).toBe(1);
    // #endregion
    expect(call.asked.map(({ key }) => key)).toEqual(["how", "sure"]);
    expect(call.tokenBytes).toEqual([]);
  });

  test("pauses nothing for a client that can be asked", async () => {
    const call = await play(resolve, { id: 7 }, { how: "Fixed", sure: true });
    expect(call.pauses).toEqual([]);
    expect(call.text).toBe("#7 closed as Fixed");
  });

  test("relays a decline, a cancellation and silence", async () => {
    const played = async (how: typeof declined | typeof cancelled) =>
      (await play(resolve, { id: 7 }, { how }, { client: "chat" })).text;
    expect(await played(declined)).toBe('Question "how" was declined.');
    expect(await played(cancelled)).toBe('Question "how" was cancelled without an answer.');
    const slow = app.tool("slow", {}, async (ctx) =>
      ctx.ask("name", "Who?", undefined, { relay: true, timeoutMs: 60_000 }),
    );
    expect((await play(slow, {}, { name: timedOut }, { client: "chat" })).text).toBe(
      'Question "name" was not answered in time.',
    );
  });

  test("runs a task that the client cannot follow", async () => {
    const trip = app.tool("trip", { task: "optional" }, async (ctx) => {
      const to = await ctx.ask("to", "Where to?", undefined, { relay: true });
      await ctx.background();
      const seat = await ctx.ask("seat", "Which seat?", undefined, { relay: true });
      return `${to} ${seat}`;
    });
    const script = { to: "Oslo", seat: "12A" };
    const call = await play(trip, {}, script, { client: "chat" });
    expect(call.text).toBe("Oslo 12A");
    expect(call.task).toBeDefined();
    expect(call.pauses).toHaveLength(2);
  });
});

describe("play with a client that renders MCP Apps", () => {
  // #region app
  const rename = app.tool("rename", { ui: "form" }, async (ctx) => {
    const name = await ctx.ask("name", "What is the new name?");
    if (!(await ctx.confirm("sure", "Rename it?"))) return "Nothing was changed.";
    await ctx.step("rename", () => `renamed to ${name}`);
    return `Renamed to ${name}.`;
  });
  // #endregion

  test("answers in the form, and the model only waits", async () => {
    const call = await play(rename, {}, { name: "Nora", sure: true }, { client: "app" });
    expect(call.text).toBe("Renamed to Nora.");
    expect(call.ran("rename")).toBe(1);
    expect(call.pauses).toHaveLength(2);
    expect(call.pauses[0]).toContain("A form is shown to the user. Wait.");
    const refused = await play(rename, {}, { name: "Nora", sure: false }, { client: "app" });
    expect(refused.text).toBe("Nothing was changed.");
    expect((await play(rename, {}, { name: declined }, { client: "app" })).text).toBe(
      'Question "name" was declined.',
    );
  });

  test("runs a task that the client cannot follow", async () => {
    const trip = app.tool("app_trip", { task: "optional", ui: "form" }, async (ctx) => {
      const to = await ctx.ask("to", "Where to?");
      await ctx.background();
      return `${to} ${await ctx.ask("seat", "Which seat?")}`;
    });
    const call = await play(trip, {}, { to: "Oslo", seat: "12A" }, { client: "app" });
    expect(call.text).toBe("Oslo 12A");
    expect(call.task).toBeDefined();
  });
});
