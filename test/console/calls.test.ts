// In development: calls made of rounds, and trying a tool.

import { parley } from "mcp-parley";
import { expect, test } from "vitest";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { admin, clerk, opened, viewer } from "./opened.ts";

function greeter() {
  const app = parley({ name: "greeter", version: "1.0.0", keys, logger: quiet });
  app.tool("greet", { inputSchema: z.object({ to: z.string() }) }, async ({ to }, ctx) => {
    const greeting = await ctx.step("look up", () => "Hello");
    const mark = await ctx.ask("mark", "Which mark?", z.object({ mark: z.string() }));
    return `${greeting}, ${to}${mark.mark}`;
  });
  app.tool("plain", {}, () => "plain");
  return app;
}

test("a tool is tried, its conversation is kept, and attacks on it are refused", async () => {
  const at = await opened(greeter());
  const start = { tool: "greet", args: { to: "Ada" } };
  // What comes back are values.
  const blind = { ...admin, values: false };
  for (const operator of [viewer, clerk, blind]) {
    expect((await at.post("api/try", start, operator)).status).toBe(403);
  }
  const asked = await at.post("api/try", start, admin);
  expect(asked.body).toMatchObject({
    status: "input_required",
    questions: [{ key: "mark", message: "Which mark?", form: { properties: { mark: {} } } }],
  });
  const { call } = asked.body as { call: string };
  const tampered = await at.post(`api/try/${call}`, { tamper: true }, admin);
  expect(tampered.body).toMatchObject({ status: "refused" });
  const answers = { mark: { mark: "!" } };
  const ended = await at.post(`api/try/${call}`, { answers }, admin);
  expect(ended.body).toMatchObject({
    status: "completed",
    result: { content: [{ text: "Hello, Ada!" }] },
  });
  expect((await at.post(`api/try/${call}`, { replay: 2 }, admin)).body).toMatchObject({
    status: "completed",
  });
  expect((await at.post(`api/try/${call}`, { replay: 9 }, admin)).status).toBe(404);
  expect((await at.post("api/try/none", { answers }, admin)).status).toBe(404);
  await at.post("api/try", { tool: "plain", args: {} }, admin);

  const { body } = await at.get("api/calls", admin);
  expect(body).toMatchObject({ calls: [{ target: "greet", status: "completed" }] });
  const [{ id }] = (body as { calls: [{ id: string }] }).calls;
  const own = expect.stringMatching(/^calls\.test\.ts:\d+$/);
  expect((await at.get(`api/calls/${id}`, admin)).body).toMatchObject({
    rounds: [
      {
        round: 1,
        entries: [{ kind: "step", key: "look up", value: "Hello", epoch: 1, line: own }],
      },
      {
        round: 2,
        tokenBytes: expect.any(Number),
        token: { entries: [{ key: "look up" }] },
        entries: [
          { key: "look up", epoch: 1 },
          { kind: "answer", key: "mark", epoch: 2, line: own },
        ],
      },
      { round: 2 },
    ],
  });
  expect((await at.get("api/calls", viewer)).status).toBe(403);
  expect((await at.get("api/calls/none", admin)).status).toBe(404);
  // A store is not needed for any of this.
  expect((await at.get("api/tasks", admin)).status).toBe(409);
});
