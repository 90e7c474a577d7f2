// What the log says about attempts of a step that are followed by another one.

import { expect, test } from "vitest";
import { registeredAs } from "../define/handles.ts";
import { parley } from "../parley.ts";
import { serveRound } from "../round/round.ts";
import { errorText } from "../../util/error-text.ts";
import { HandedOut } from "./handed-out.ts";

test("each attempt that fails is a warning, and what follows it is in the message", async () => {
  const lines: unknown[] = [];
  const note =
    (level: string) =>
    (message: string, { call, ...fields }: Record<string, unknown> = {}) =>
      void lines.push([level, message, fields, typeof call]);
  const logger = {
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
  const app = parley({ name: "retries", version: "1.0.0", logger });
  const tool = app.tool("deploy", {}, (ctx) =>
    ctx.step(
      "push",
      ({ attempt }) => {
        if (attempt < 3) throw new Error("connection refused");
        return "pushed";
      },
      { retries: 8, backoffMs: 1 },
    ),
  );
  const { core, definition } = registeredAs(tool);
  await serveRound(core, definition, {
    target: "deploy",
    arguments: {},
    capabilities: {},
    principal: undefined,
    facts: { meta: {} },
  });
  const fields = { handler: "deploy", step: "push" };
  const failed = 'Step "push" of "deploy" failed: connection refused';
  expect(lines).toEqual([
    ["warn", `${failed} (attempt 1 of 9, the next one in 1 ms)`, fields, "string"],
    ["warn", `${failed} (attempt 2 of 9, the next one in 2 ms)`, fields, "string"],
  ]);
});

test("a token that was handed out is taken out of the message of an attempt, too", () => {
  const tokens = new HandedOut();
  tokens.add("gho_secret", "github");
  const message = "GET /?token=gho_secret failed (attempt 1 of 2, the next one at once)";
  const shown = errorText(tokens.loggable({ message }));
  expect(shown).toBe("GET /?token=[access token] failed (attempt 1 of 2, the next one at once)");
});
