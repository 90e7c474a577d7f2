// What the audit records, and what happens if it cannot.

import { expect, test, vi } from "vitest";
import { patience } from "../../../test/patience.ts";
import { newKey, parseKeys } from "../../token/keyring.ts";
import { anotherInstance, registeredAs } from "../define/handles.ts";
import { nodeEnvironment } from "../ops/environment.ts";
import { parley } from "../parley.ts";
import { serveRound } from "../round/round.ts";
import type { AuditRecord, AuditSink } from "./audit-record.ts";

const keyring = parseKeys(newKey("test"));

/** An app with this sink, what its log says, and a request whose token is refused. */
function refusing(sink: AuditSink) {
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  const app = parley({ name: "audit-test", version: "1.0.0", audit: sink });
  const tool = app.tool("hello", {}, async (ctx) => ctx.ask("name", "Name?"));
  const { core, definition } = registeredAs(tool);
  const auditFailed = vi.fn();
  const instance = {
    ...anotherInstance(core, { keyring, environment: nodeEnvironment, logger }),
    telemetry: { ...core.telemetry, auditFailed },
  };
  const audited = { ...instance, audit: anotherInstance(instance, { ...instance, keyring }).audit };
  const send = () =>
    serveRound(audited, definition, {
      target: "hello",
      arguments: {},
      requestState: "not a token",
      inputResponses: {},
      capabilities: {},
      principal: "ada",
      facts: { meta: {} },
    });
  return { send, lines, auditFailed };
}

test("a refused token is recorded with its caller and the reason", async () => {
  const records: AuditRecord[] = [];
  const { send } = refusing((record) => records.push(record));
  await send();
  await vi.waitFor(() => expect(records).toHaveLength(1), patience);
  expect(records).toEqual([
    {
      id: expect.any(String),
      at: expect.any(Date),
      action: "token_refused",
      tool: "hello",
      principal: "ada",
      note: "malformed",
    },
  ]);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("disk full");
    },
  ],
  ["rejects", async () => Promise.reject(new Error("disk full"))],
])("a sink that %s is logged and counted, and fails nothing", async (_how, sink) => {
  const { send, lines, auditFailed } = refusing(sink);
  await expect(send()).resolves.toMatchObject({ kind: "error", code: -32602 });
  await vi.waitFor(() => expect(auditFailed).toHaveBeenCalledExactlyOnceWith("sink"), patience);
  expect(lines.at(-1)).toBe("The audit sink failed, and this record is lost to it: disk full");
});

test("what is neither a sink nor options is refused", () => {
  // @ts-expect-error -- a sink is a function
  expect(() => parley({ name: "a", version: "1", audit: { sink: "console" } })).toThrow(
    new TypeError(
      "parley({ audit }) takes a function that gets each record, or { sink, values, store }.",
    ),
  );
});
