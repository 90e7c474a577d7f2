// With 100,000 parked tasks, frequent statements use an index.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { quoted } from "./schema-name.ts";
import { TestServer } from "./server.fixture.ts";
import type { TestSchema } from "./server.fixture.ts";
import { statementsFor } from "./statements.ts";
import type { StatementName } from "./statements.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer;
let opened: TestSchema;

beforeAll(async () => {
  server = await TestServer.start();
  opened = await server.open();
  await fill(opened.schema, 100_000);
});
afterAll(() => server.stop());

/** Makes so many tasks, all of which wait for people. */
async function fill(schema: string, tasks: number): Promise<void> {
  await server.admin.query(`
    insert into "${schema}".tasks
    select
      'task-' || n, 'call-' || n, 'tool-' || n % 7, 'principal-' || n % 2000, 'input_required', 3, 1, null,
      -- A few are due, a few will be.
      case when n % 1000 = 0 then n when n % 1000 = 1 then 4000000000000 end,
      '[{"wire": "k", "key": "k", "kind": "question"}]', '[]', '{}', 0, 0, 0, null, 'input', null, null, null, n, n,
      4000000000000 + n, case when n % 100 = 0 then 1 else 0 end, 0, null, '[]', n % 5000 = 0, 'group-' || n % 3, n
    from generate_series(1, ${tasks}) as n;
    insert into "${schema}".task_waits
    select 'task-' || n, 'k', 'k', 'question', 'group-' || n % 3, 'tool-' || n % 7, n
    from generate_series(1, ${tasks}) as n;
    analyze "${schema}".tasks, "${schema}".task_waits`);
}

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The indexes that find tasks, in a plan for these values or in a plan for any values. */
async function scans(name: StatementName, values: string, mode: string): Promise<string[]> {
  const client = await server.admin.connect();
  try {
    const text = statementsFor(quoted(opened.schema))[name];
    await client.query(`set plan_cache_mode = ${mode}`);
    await client.query(`prepare it as ${text}`);
    const { rows } = await client.query(`explain (format json) execute it (${values})`);
    const [{ Plan: plan }] = rows[0]["QUERY PLAN"] as [{ Plan: Plan }];
    const found = nodesOf(plan).flatMap((node) => {
      if (node["Index Name"] !== undefined) return [node["Index Name"]];
      return node["Node Type"] === "Seq Scan" ? [`all of ${node["Relation Name"]}`] : [];
    });
    return [...new Set(found)].toSorted();
  } finally {
    client.release(true);
  }
}

/** A group of three such operations. */
const group = (member: object): string =>
  `'${JSON.stringify([1, 2, 3].map((n) => ({ one: 1, n, ...member, id: `task-${n}` })))}'`;

const newTask = {
  call_id: "c",
  tool: "tool",
  principal: "principal-7",
  input: "input",
  inbox: [],
  log: ["r"],
  log_bytes: 1,
  epoch: 0,
  lease_ms: 0,
  ttl_ms: 1_000,
  most: 100,
  undos: 0,
};
const addition = { at: 0, records: ["r"], bytes: 1 };
const append = { epoch: 1, at: 0, records: ["r"], bytes: 1, taken: [], returned: [] };
const finish = { epoch: 1, status: "completed", result: "r", keep_ms: 0, keeps: true };

describe.each(["force_custom_plan", "force_generic_plan"])("%s", (mode) => {
  test.each<[StatementName, string, string[]]>([
    ["claim", "'w', array['tool-1', 'tool-0'], 8, 10000", ["log_pkey", "tasks_due", "tasks_pkey"]],
    ["create", group(newTask), ["tasks_live"]],
    ["read", group({}), ["tasks_pkey"]],
    ["expired", "100, 86400000", ["tasks_expiry"]],
    ["abandoned", "100, 5000000000000", ["tasks_unread"]],
    ["ended", "'principal-7', 100", ["tasks_own"]],
    ["countEnded", "'principal-7'", ["tasks_live", "tasks_own"]],
    ["noteRead", "array['task-1', 'task-2']", ["tasks_pkey"]],
    ["forget", "100, 86400000", ["tasks_expiry", "tasks_pkey"]],
    ["listOwn", "'principal-7', 5000000000000, '', 50", ["tasks_own"]],
    ["listAll", "null, 5000000000000, '', 50", ["tasks_all"]],
    ["answer", group({ answers: [], claimer: "w", lease_ms: 1 }), ["log_pkey", "tasks_pkey"]],
    ["park", group({ epoch: 1, waits: [], asked: {}, taken: [], ...addition }), ["tasks_pkey"]],
    [
      "append",
      group({ ...append, streamed: "draft", ms: 5, tries: 1 }),
      ["task_parts_pkey", "tasks_pkey"],
    ],
    [
      "addParts",
      "array['task-1'], array[1], array['task-1'], array[1], array['draft'], array[0], array['r']",
      ["tasks_pkey"],
    ],
    ["readParts", "array['task-1'], array[1], array[0]", ["task_parts_pkey", "tasks_pkey"]],
    ["undo", "'task-1', 1, 0, array['r'], 1, 0, 0", ["tasks_pkey"]],
    ["finish", group({ ...finish, ...addition }), ["tasks_pkey"]],
    ["renew", "'w', array['task-1', 'task-2'], array[1, 1], 1000", ["tasks_pkey"]],
    ["revisions", "array['task-1', 'task-2'], null", ["tasks_pkey"]],
    ["revisions", "array['task-1', 'task-2'], 'principal-7'", ["tasks_pkey"]],
    ["readByCall", "'call-1'", ["tasks_call_id_key"]],
    ["findAll", "5000000000000, '', 50", ["tasks_all"]],
    ["findOwn", "5000000000000, '', 50, 'principal-7', null, null", ["tasks_own"]],
    ["findKind", "5000000000000, '', 50, 'failed', null", ["tasks_found"]],
    ["findKind", "5000000000000, '', 50, null, 'tool-3'", ["tasks_found"]],
    ["findStuck", "30000, 50, null, null, null", ["tasks_due", "tasks_retried"]],
    ["waiting", "null, null, 0, '', '', 50", ["task_waits_found", "tasks_waiting"]],
    ["waiting", "array['group-1'], 'tool-1', 0, '', '', 50", ["task_waits_found", "tasks_waiting"]],
    ["waitsOf", "'task-1', 0, '', 50", ["task_waits_pkey", "tasks_pkey"]],
    ["history", "'task-1', 0, 50", ["log_pkey"]],
    ["runs", "'task-1'", ["task_runs_pkey", "tasks_pkey"]],
  ])("%s", async (name, values, indexes) => {
    expect(await scans(name, values, mode)).toEqual(indexes);
  });
});

test("a claim with nothing to do reads only a few pages", async () => {
  const client = await server.admin.connect();
  try {
    await client.query("begin");
    await client.query(`prepare it as ${statementsFor(quoted(opened.schema)).claim}`);
    const { rows } = await client.query(
      "explain (analyze, buffers, format json) execute it ('w', array['nothing'], 8, 10000)",
    );
    const [{ Plan: plan }] = rows[0]["QUERY PLAN"] as [{ Plan: Record<string, number> }];
    const pages = (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
    expect(pages).toBeLessThan(30);
  } finally {
    client.release(true);
  }
});

/** How many pages of the database a statement reads. */
async function pagesRead(schema: string, name: StatementName, values: string): Promise<number> {
  const client = await server.admin.connect();
  try {
    await client.query(`prepare it as ${statementsFor(quoted(schema))[name]}`);
    const { rows } = await client.query(
      `explain (analyze, buffers, format json) execute it (${values})`,
    );
    const [{ Plan: plan }] = rows[0]["QUERY PLAN"] as [{ Plan: Record<string, number> }];
    return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
  } finally {
    client.release(true);
  }
}

test.each<[StatementName, string]>([
  ["findAll", "5000000000000, '', 50"],
  ["findKind", "5000000000000, '', 50, 'input_required', null"],
  ["findKind", "5000000000000, '', 50, 'failed', null"],
  ["findKind", "5000000000000, '', 50, 'input_required', 'tool-3'"],
  ["waiting", "null, null, 0, '', '', 50"],
  ["waiting", "array['group-1'], null, 0, '', '', 50"],
])("a page of %s with 100,000 tasks costs at most twice one with 1,000", async (name, values) => {
  const few = await server.open();
  await fill(few.schema, 1_000);
  const [small, large] = [
    await pagesRead(few.schema, name, values),
    await pagesRead(opened.schema, name, values),
  ];
  expect(large).toBeLessThanOrEqual(2 * small + 20);
  await few.close();
});
