// A process is killed with SIGKILL while approvals are asked and decided, and another one goes on. The audit then has every
// decision once, and nothing is missing.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { App } from "mcp-parley";
import { expect, onTestFinished, test, vi } from "vitest";
import { dispatch } from "../../src/cli/dispatch.ts";
import { keys } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { freshDatabase } from "../postgres/database.ts";
import { startProgram } from "../programs.ts";
import { envelope, exchange } from "../wire/post.ts";
import { call, follows, taskIdIn } from "../wire/task-calls.ts";
import { payDesk, site, storeAt } from "./pay-desk.ts";

const leaseMs = 1_000;
const headers = { authorization: "Bearer ada" };

const targets: Record<string, () => Promise<string>> = {
  SQLite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-killed-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return join(folder, "tasks.db");
  },
  Postgres: async () => {
    const { url, stop } = await freshDatabase();
    onTestFinished(stop);
    return url;
  },
};

/** A process that stops at these gates, and what it says. */
async function mortal(store: string, hold: string) {
  const env = { STORE: store, LEASE: String(leaseMs), HOLD: hold };
  const program = startProgram("test/approvals/mortal-desk.ts", env);
  onTestFinished(() => program.kill("SIGKILL"));
  const said: string[] = [];
  void (async () => {
    for await (const line of program.lines) said.push(line);
  })();
  /** What follows a word, once the process has said it. */
  const after = (words: string) =>
    vi.waitFor(() => {
      const line = said.find((one) => one === words || one.startsWith(`${words} `));
      if (line === undefined) throw new Error(`It has not said "${words}".`);
      return line.slice(words.length + 1);
    }, patience);
  const origin = await after("at");
  const ask = (request: Request) => fetch(new Request(request.url.replace(site, origin), request));
  return { after, ask, kill: () => program.kill("SIGKILL") };
}

/** Someone approves on the page, as it is shown to those who have not decided. Resolves to the status of the acknowledgement. */
async function approves(
  ask: (request: Request) => Promise<Response>,
  who: string,
  ticket: string,
): Promise<number> {
  const address = `${site}/ask/${ticket}`;
  const shown = await (await ask(new Request(address, { headers: { "x-user": "di" } }))).text();
  const digest = /name="digest" value="([^"]+)"/.exec(shown)?.[1] ?? "";
  const body = new URLSearchParams({ digest, action: "accept" }).toString();
  const { status } = await ask(
    new Request(address, {
      method: "POST",
      body,
      redirect: "manual",
      headers: {
        origin: site,
        "x-user": who,
        "content-type": "application/x-www-form-urlencoded",
      },
    }),
  );
  return status;
}

async function text(app: App, taskId: string): Promise<string> {
  return vi.waitFor(async () => {
    const read = envelope("tasks/get", { taskId }, { capabilities: follows });
    const { result } = await exchange(app, read, { headers });
    expect(result).toMatchObject({ status: "completed" });
    const { content = [] } = (result?.["result"] ?? {}) as { content?: { text: string }[] };
    return content[0]?.text ?? "";
  }, patience);
}

async function audit(target: string, ...args: string[]) {
  let printed = "";
  const out = (part: string) => void (printed += part);
  const env = { PARLEY_KEYS: String(keys) };
  const io = { out, err: out, isInteractive: false, env };
  const { code } = await dispatch(["audit", target, ...args], io);
  return { code, printed };
}

test.each(Object.entries(targets))("on %s", async (_name, open) => {
  const target = await open();
  const store = await storeAt(target, leaseMs);
  onTestFinished(() => store.close());
  // This process calls the tool, and works only at the end.
  const app = payDesk(store, () => {});
  onTestFinished(() => app.close());
  const begin = async (order: number) => taskIdIn(await call(app, "pay", { order }, { headers }));

  const first = await mortal(target, "second asked,decided by cy");
  const one = await begin(1);
  const ticket = await first.after("ticket 1");
  expect(await approves(first.ask, "bo", ticket)).toBe(303);
  const two = await begin(2);
  await first.after("second asked");
  const unheard = approves(first.ask, "cy", ticket).catch(() => "no answer");
  await first.after("decided by cy");
  first.kill();
  expect(await unheard).toBe("no answer");

  const second = await mortal(target, "recorded bo");
  const other = await second.after("ticket 2");
  expect(await text(app, one)).toBe("paid, approved by bo and cy");
  const lost = approves(second.ask, "bo", other).catch(() => "no answer");
  await second.after("recorded bo");
  second.kill();
  expect(await lost).toBe("no answer");

  await app.work();
  const here = (request: Request) => app.pages(request);
  // Bo has heard nothing, and sends the form again.
  expect(await approves(here, "bo", other)).toBe(409);
  expect(await approves(here, "cy", other)).toBe(303);
  expect(await text(app, two)).toBe("paid, approved by bo and cy");

  expect(await audit(target, "--check")).toEqual({
    code: 0,
    printed: "Checked 7 records of 2 calls. Nothing is missing or was changed.\n",
  });
  const { printed } = await audit(target, "--json");
  const { records } = JSON.parse(printed) as {
    records: readonly Record<"taskId" | "action" | "who", string | undefined>[];
  };
  const of = (id: string) =>
    records.flatMap(({ taskId, action, who = "" }) => (taskId === id ? [`${action} ${who}`] : []));
  expect(of(one)).toEqual(["asked ", "approved bo", "approved cy"]);
  expect(of(two)).toEqual(["asked ", "approved bo", "too_late bo", "approved cy"]);
});
