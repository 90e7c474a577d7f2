import { expect, test } from "vitest";
import { z } from "zod";
import { usageHints } from "./usage-hints.ts";

const url = "http://127.0.0.1:3000/mcp";

function suggested(schema: z.ZodType): string | undefined {
  const inputSchema = z.toJSONSchema(z.object({ x: schema })) as { type: "object" };
  const text = usageHints({ url, server: "s", tools: [{ name: "t", inputSchema }] });
  return / t (x.*)/.exec(text)?.[1];
}

test.each([
  [z.string(), "x=text"],
  [z.string().min(6).max(8), "x=textte"],
  [z.string().max(2), "x=te"],
  [z.email(), "x=ada@example.com"],
  [z.iso.date(), "x=2026-01-31"],
  [z.url(), "x=https://example.com"],
  [z.string().regex(/^[A-Z]{3}-\d+$/), "x=ABC-123"],
  [z.string().regex(/^zzz9$/), "x=…"],
  [z.int().min(10).max(20), "x=10"],
  [z.int().max(-3), "x=-3"],
  [z.number().gt(2).lt(3), "x=2.5"],
  [z.int().multipleOf(5).min(7), "x=10"],
  [z.enum(["two words", "b"]), "x='two words'"],
  [z.boolean(), "x=true"],
  [z.literal("only"), "x=only"],
  [z.array(z.int().min(3)).min(2), "x:='[3,3]'"],
  [z.object({ mail: z.email() }), `x:='{"mail":"ada@example.com"}'`],
  [z.union([z.int(), z.string()]), "x=1"],
])("suggests a value that the schema accepts, %#", (schema, expected) => {
  const word = suggested(schema);
  expect(word).toBe(expected);
});

test("shows how a host that cannot be asked calls the tools, and how its model goes on", () => {
  const inputSchema = { type: "object" } as const;
  const tools = ["continue_call", "deploy"].map((name) => ({ name, inputSchema }));
  const text = usageHints({ url, server: "s", tools, client: "chat" });
  expect(text).toContain(`npx mcp-parley call ${url} deploy --as chat`);
  expect(text).toContain(`call ${url} continue_call call=… answers:='{…}' --as chat`);
  expect(usageHints({ url, server: "s", tools })).not.toContain("continue_call");
});

test("shows where a host that renders MCP Apps is", () => {
  const tools = [{ name: "deploy", inputSchema: { type: "object" } as const }];
  const preview = "http://127.0.0.1:4000/";
  const text = usageHints({ url, server: "s", tools, client: "app", preview });
  expect(text).toContain(preview);
  expect(text).not.toContain("--as");
});
