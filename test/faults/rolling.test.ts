// A rolling deployment: three replicas on one store serve and run calls while one after the other is replaced by a new
// version. The new version rewords a question and puts a question and a step in front of one that calls have recorded.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parley } from "mcp-parley";
import type { App, Context, Store } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { freshDatabase } from "../postgres/database.ts";

const places: Readonly<Record<string, () => Promise<() => Store>>> = {
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-rolling-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return () => sqliteStore(join(folder, "tasks.db"));
  },
  postgres: async () => {
    const database = await freshDatabase();
    onTestFinished(() => database.stop());
    return () => postgresStore(database.url);
  },
};

/** How often each step of each call ran. */
type Ran = Map<string, number>;

function appOf(version: "1.0.0" | "2.0.0", store: Store, ran: Ran): App {
  const app = parley({ name: "orders", version, keys, store, logger: quiet });
  const isNew = version === "2.0.0";
  const handle = async (id: string, ctx: Context) => {
    const step = (key: string) =>
      ctx.step(key, () => void ran.set(`${id} ${key}`, (ran.get(`${id} ${key}`) ?? 0) + 1));
    await step("reserve");
    const isReworded = isNew && (await ctx.patched("clearer size"));
    await ctx.confirm("size", isReworded ? "Is it the right size?" : "Right size?");
    if (isNew && (await ctx.patched("vat"))) {
      await ctx.confirm("company", "Is it for a company?");
      await step("vat");
    }
    await step("charge");
    await ctx.confirm("gift", "Is it a gift?");
    await step("send");
    return `sent ${id}`;
  };
  const inputSchema = z.object({ id: z.string() });
  app.tool("order", { inputSchema, task: "optional" }, async ({ id }, ctx) => {
    await ctx.background();
    return handle(id, ctx);
  });
  app.tool("buy", { inputSchema }, ({ id }, ctx) => handle(id, ctx));
  return app;
}

interface Replica {
  readonly app: App;
  readonly store: Store;
  readonly url: string;
}

async function start(version: "1.0.0" | "2.0.0", open: () => Store, ran: Ran): Promise<Replica> {
  const store = open();
  const app = appOf(version, store, ran);
  const { url } = await app.listen(0);
  return { app, store, url };
}

async function stop({ app, store }: Replica): Promise<void> {
  await app.close();
  await store.close();
}

describe.each(Object.keys(places))("a rolling deployment of three replicas on %s", (kind) => {
  test("no call fails, no step runs twice and no answer is lost, whether a call is before, at or after the change", async () => {
    const open = await places[kind]!();
    const ran: Ran = new Map();
    const replicas: Replica[] = [];
    for (let n = 0; n < 3; n += 1) replicas.push(await start("1.0.0", open, ran));
    onTestFinished(async () => {
      for (const replica of replicas.splice(0)) await stop(replica);
    });

    /** Replaces a replica. The balancer stops sending requests to it first. */
    const replace = async (): Promise<void> => {
      const old = replicas.findIndex(({ app }) => olds.has(app));
      const [leaving] = replicas.splice(old, 1);
      if (leaving !== undefined) await stop(leaving);
      replicas.push(await start("2.0.0", open, ran));
    };
    const olds = new Set(replicas.map(({ app }) => app));

    // Each question of each call waits until the test lets it be answered.
    const asked: string[] = [];
    const allowed = new Set<string>();
    const waiting = new Map<string, () => void>();
    const allow = (...questions: readonly string[]) => {
      for (const question of questions) {
        allowed.add(question);
        waiting.get(question)?.();
      }
    };
    const isAsked = (...questions: readonly string[]) =>
      vi.waitFor(() => expect(asked).toEqual(expect.arrayContaining([...questions])), {
        timeout: 2 * patience.timeout,
      });

    /** A call through a balancer that takes the replicas in turn. */
    const call = async (tool: "order" | "buy", id: string): Promise<string> => {
      let turn = 0;
      const server = await connect("http://balancer.invalid/mcp", {
        fetch: (input, init) => {
          const replica = replicas[(turn += 1) % replicas.length];
          const { pathname } = new URL(input);
          return fetch(new URL(pathname, replica?.url), init);
        },
        elicit: async ({ key }) => {
          const question = `${id} ${key.split("~")[0]}`;
          asked.push(question);
          if (!allowed.has(question)) {
            await new Promise<void>((resolve) => waiting.set(question, resolve));
          }
          return { action: "accept", content: { confirm: true } };
        },
      });
      onTestFinished(() => server.close());
      return (await server.call(tool, { id })).text;
    };

    const tools = ["order", "buy"] as const;
    const calls: Promise<string>[] = [];
    const begin = (name: string) =>
      calls.push(...tools.map((tool) => call(tool, `${name}-${tool}`)));
    const of = (name: string, key: string) => tools.map((tool) => `${name}-${tool} ${key}`);

    // With the old version, calls stop before the change and after it.
    begin("before");
    begin("after");
    allow(...of("after", "size"));
    await isAsked(...of("before", "size"), ...of("after", "gift"));

    await replace();
    // New calls begin while both versions serve. They go past the reworded question with either version.
    begin("mixed");
    await isAsked(...of("mixed", "size"));
    allow(...of("mixed", "size"), ...of("mixed", "company"));
    await isAsked(...of("mixed", "gift"));
    allow(...of("after", "gift"));

    await replace();
    allow(...of("mixed", "gift"));
    begin("late");
    allow(...of("late", "size"));
    await isAsked(...of("late", "size"));

    await replace();
    const ids = ["before", "after", "mixed", "late"];
    for (const id of ids) {
      allow(...["size", "company", "gift"].flatMap((key) => of(id, key)));
    }
    const texts = await Promise.all(calls);
    expect(texts.toSorted()).toEqual(
      ids.flatMap((id) => tools.map((tool) => `sent ${id}-${tool}`)).toSorted(),
    );
    for (const [step, times] of ran) expect([step, times]).toEqual([step, 1]);
    for (const id of ids.flatMap((name) => tools.map((tool) => `${name}-${tool}`))) {
      for (const step of ["reserve", "charge", "send"]) expect(ran.get(`${id} ${step}`)).toBe(1);
    }
    // What the old version had asked and got an answer to is not asked again.
    for (const question of of("after", "size")) {
      expect(asked.filter((one) => one === question)).toHaveLength(1);
    }
    // A call that was past the place keeps its old path, and one that was before it takes the new one.
    for (const tool of tools) {
      expect(ran.has(`after-${tool} vat`)).toBe(false);
      expect(ran.has(`before-${tool} vat`)).toBe(true);
    }
  });
});
