// What the suite passes to the program that it starts.

import process from "node:process";
import { z } from "zod";

const Context = z.looseObject({
  toolCalls: z
    .array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }))
    .optional(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  private_key_pem: z.string().optional(),
  signing_algorithm: z.string().optional(),
  issuer: z.string().optional(),
});

export const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
export const revision = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"];
/** What a scenario provides, such as credentials. */
export const given = Context.parse(JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}"));
export const url = process.argv.at(-1) ?? "";
