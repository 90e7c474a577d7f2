// What the suite requires of every server: contents of each kind, prompts, resources. None of these ask.

import { setTimeout as sleep } from "node:timers/promises";
import { fromJsonSchema } from "@modelcontextprotocol/server";
import type { App } from "mcp-parley";
import { z } from "zod";

// A red pixel, and a sound of one sample.
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";

const image = { type: "image", data: png, mimeType: "image/png" } as const;
const text = <const T extends string>(words: T) => ({ type: "text", text: words }) as const;
const embedded = (uri: string, mimeType: string, words: string) =>
  ({ type: "resource", resource: { uri, mimeType, text: words } }) as const;

export function addContents(app: App): void {
  app.tool("test_simple_text", { description: "Text" }, () => "A simple text for testing.");
  app.tool("test_image_content", { description: "An image" }, () => ({ content: [image] }));
  app.tool("test_audio_content", { description: "A sound" }, () => ({
    content: [{ type: "audio", data: wav, mimeType: "audio/wav" }],
  }));
  app.tool("test_embedded_resource", { description: "A resource in the result" }, () => ({
    content: [embedded("test://embedded-resource", "text/plain", "An embedded resource.")],
  }));
  app.tool("test_multiple_content_types", { description: "Three kinds at once" }, () => ({
    content: [
      text("Several kinds of content:"),
      image,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  }));
  app.tool("test_error_handling", { description: "Always fails" }, () => {
    throw new Error("This tool fails on purpose.");
  });
  app.tool("test_tool_with_progress", { description: "Tells how far it is" }, async (ctx) => {
    ctx.progress(0, 100);
    await ctx.step("first-half", () => sleep(50));
    ctx.progress(50, 100);
    await ctx.step("second-half", () => sleep(50));
    ctx.progress(100, 100);
    return "All done.";
  });
  app.tool("test_tool_with_logging", { description: "Logs what it does" }, async (ctx) => {
    ctx.log("info", "Tool execution started");
    await ctx.step("process", () => sleep(50));
    ctx.log("info", "Tool processing data");
    await ctx.step("finish", () => sleep(50));
    ctx.log("info", "Tool execution completed");
    return "Logged three times.";
  });
  // The suite calls this without a log level in 2026-07-28, so none of it may be sent.
  app.tool("test_logging_tool", { description: "Logs once" }, (ctx) => {
    ctx.log("info", "Nobody asked to hear this.");
    return "Logged once.";
  });
}

/** Schemas that must reach the client as they were written. The suite runs these without scoring them. */
export function addSchemas(app: App): void {
  app.tool(
    "json_schema_2020_12_tool",
    { description: "Keywords of JSON Schema 2020-12", inputSchema: contact },
    (args) => `Called with ${JSON.stringify(args)}.`,
  );
  const region = z.string().meta({ "x-mcp-header": "Region" });
  app.tool(
    "test_x_mcp_header",
    { description: "A parameter that is also a header", inputSchema: z.object({ region }) },
    (args) => `Region ${args.region}.`,
  );
}

const contact = fromJsonSchema<Record<string, unknown>>({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword is called so
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
});

export function addPrompts(app: App): void {
  const user = "user" as const;
  app.prompt("test_simple_prompt", { description: "Text" }, () => "A simple prompt for testing.");
  app.prompt(
    "test_prompt_with_arguments",
    {
      description: "Text made of its arguments",
      argsSchema: z.object({ arg1: z.string(), arg2: z.string() }),
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );
  app.prompt(
    "test_prompt_with_embedded_resource",
    { description: "A resource in a message", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        { role: user, content: embedded(resourceUri, "text/plain", "An embedded resource.") },
        { role: user, content: text("Please look at the resource above.") },
      ],
    }),
  );
  app.prompt("test_prompt_with_image", { description: "An image in a message" }, () => ({
    messages: [
      { role: user, content: image },
      { role: user, content: text("Please look at the image above.") },
    ],
  }));
}

export function addResources(app: App): void {
  app.resource(
    "static-text",
    "test://static-text",
    { description: "A text that never changes", mimeType: "text/plain" },
    () => "This is the content of the static text resource.",
  );
  app.resource(
    "static-binary",
    "test://static-binary",
    { description: "An image that never changes", mimeType: "image/png" },
    () => Buffer.from(png, "base64"),
  );
  app.resource(
    "watched",
    "test://watched-resource",
    { description: "A text to subscribe to", mimeType: "text/plain" },
    () => "Watched resource content",
  );
  app.resource(
    "template",
    "test://template/{id}/data",
    { description: "One for every id", mimeType: "application/json" },
    (_uri, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  );
}
