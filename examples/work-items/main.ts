// The official client resolves bug 4522 through three replicas that share nothing but a key. You answer in the terminal;
// without one, a script answers. The exit code is 1 unless each write reached the tracker exactly once.

import { randomBytes } from "node:crypto";
import { stdin, stdout } from "node:process";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { start } from "../child.ts";
import type { Child } from "../child.ts";
import { roundRobin } from "../round-robin.ts";

const script: Record<string, string | number> = { resolution: "Duplicate", duplicateOfId: 4301 };

interface Field {
  readonly type?: string;
  readonly enum?: readonly string[];
}

/** Fills in a form with one field; this tool has no others. An empty line declines. */
async function fill(message: string, [name, field]: [string, Field]) {
  const choices = field.enum === undefined ? "" : ` [${field.enum.join(", ")}]`;
  if (!stdin.isTTY) {
    console.log(`  ${message}${choices}`);
    console.log(`  > ${JSON.stringify(script[name])}  (from the script)`);
    return { action: "accept" as const, content: { [name]: script[name] ?? "" } };
  }
  const terminal = createInterface({ input: stdin, output: stdout });
  console.log(`  ${message}`);
  const hint = field.enum === undefined ? "" : `${field.enum.join(" / ")} `;
  const answer = (await terminal.question(`  ${hint}(an empty line declines) > `)).trim();
  terminal.close();
  if (answer === "") return { action: "decline" as const };
  return {
    action: "accept" as const,
    content: { [name]: typed(field, answer) },
  };
}

/** A text that is not a number is sent unchanged: the server says what is wrong with it, and asks again. */
function typed(field: Field, answer: string): string | number {
  return field.type === "string" || Number.isNaN(Number(answer)) ? answer : Number(answer);
}

process.on("uncaughtException", (error: Error & { code?: string }) => {
  const isInterrupted = error.code === "ABORT_ERR";
  console.error(isInterrupted ? "\nCancelled." : error);
  process.exit(isInterrupted ? 130 : 1);
});

// Three processes that share only the key.
const key = `example:${randomBytes(32).toString("base64url")}`;
const server = fileURLToPath(new URL("server.ts", import.meta.url));
const replicas = [1, 2, 3].map(() => start(server, { PARLEY_KEYS: key }));
const written: string[] = [];
const urls = await Promise.all(replicas.map(watch));

/** Resolves with the replica's address, then keeps recording what the replica writes. */
function watch(replica: Child, index: number): Promise<string> {
  return new Promise((resolve, reject) => {
    void (async () => {
      for await (const line of replica.lines) {
        const [what, ...rest] = line.split(" ");
        if (what === "url") resolve(rest[0] ?? "");
        if (what !== "wrote") continue;
        written.push(rest.join(" "));
        console.log(`  replica ${index + 1} writes: ${rest.slice(0, -1).join(" ")}`);
      }
      reject(new Error(`replica ${index + 1} ended before it was listening`));
    })();
  });
}

const balancer = await roundRobin(urls, (replica) =>
  console.log(`request → replica ${replica + 1}`),
);
const client = new Client(
  { name: "example", version: "1.0.0" },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  },
);
client.setRequestHandler("elicitation/create", async ({ params }) => {
  const properties = "requestedSchema" in params ? params.requestedSchema.properties : {};
  const [field] = Object.entries(properties);
  return field === undefined ? { action: "decline" } : fill(params.message, field);
});
await client.connect(new StreamableHTTPClientTransport(new URL(balancer.url)));

console.log(
  '\ntools/call update_work_item { workItemId: 4522, fields: { "System.State": "Resolved" } }\n',
);
const { content, isError } = await client.callTool({
  name: "update_work_item",
  arguments: { workItemId: 4522, fields: { "System.State": "Resolved" } },
});
const text = content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
console.log(`\n${isError === true ? "error" : "result"}: ${text}\n`);

await client.close();
balancer.close();
for (const replica of replicas) replica.kill("SIGTERM");

const isOnce = new Set(written).size === written.length;
console.log(
  "Each request went to another process. In between, the client held the sealed state of the call.",
);
console.log(
  `The tracker was written to ${written.length} time(s), each write once: ${isOnce ? "yes" : "NO"}.`,
);
process.exitCode = isOnce && (stdin.isTTY || written.length === 2) ? 0 : 1;
