// The app whose console the pictures show: its tools ask, wait, fail, undo and take their time, as those of a shop would.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { postgresStore } from "mcp-parley/postgres";
import { z } from "zod";
import { named } from "../console/callers.ts";
import { keys, quiet } from "../interop/errands.ts";

export interface StoryPlace {
  readonly url: string;
  /** A folder in which the carrier leaves a note that it was booked once. */
  readonly folder: string;
  /** The version that was deployed before had a tool that is missing now. */
  readonly isOld?: boolean;
}

/** The tickets of what waits, by tool and by the number or name in its arguments. */
export type Tickets = Map<string, string>;

const hour = 3_600_000;

/** Shorter than usual, so that nobody who makes pictures waits for a dead replica. */
const leaseMs = 3000;

export function storyApp({ url, folder, isOld }: StoryPlace, tickets: Tickets = new Map()): App {
  const app = parley({
    name: "checkout-ops",
    version: isOld === true ? "2.2.4" : "2.3.0",
    keys,
    logger: quiet,
    ...named,
    store: postgresStore(url, { leaseMs }),
  });
  const noted =
    (name: string) =>
    ({ ticket }: { readonly ticket: string }) =>
      void tickets.set(name, ticket);
  const release = app.undo<{ readonly hold: string }>("release-funds", () => soon(120));
  app.tool(
    "refund",
    { description: "Pays an order back.", inputSchema: Refund, task: "optional" },
    async ({ order, reason }, ctx) => {
      const { as } = await ctx.ask("how", `Refund 1,240.00 € for order ${order}?`, How);
      await ctx.background();
      await ctx.step("load-order", () => soon(310, { order, total: 124_000, currency: "EUR" }));
      let tries = 0;
      await ctx.step("score-risk", () => failing(++tries < 3, 280, { score: 0.12 }), {
        retries: 2,
        backoffMs: 900,
      });
      const { invoice } = await ctx.waitFor("invoice", Invoice, {
        about: { Order: order, Reason: reason },
        notify: noted(`refund ${order}`),
      });
      await ctx.step("reserve-funds", () => soon(640, { hold: "h_829", invoice }), {
        undo: release,
      });
      await ctx.sleep("settle", 2 * 60_000);
      await ctx.step("book-carrier", () => booked(folder, order));
      try {
        await ctx.step("notify-crm", () => crm(), { retries: 4, backoffMs: 20 });
      } catch {
        await ctx.step("open-ticket", () => soon(450, { ticket: "OPS-991" }));
      }
      await ctx.approve("pay", `Refund 1,240.00 € to Käthe Müller for order ${order}?`, {
        by: "finance",
        of: 2,
        about: { Amount: "1,240.00 €", Order: order, "Paid by card": true },
        timeoutMs: 31 * hour,
        notify: noted(`pay ${order}`),
      });
      await ctx.step("pay-out", () => soon(200, { paid: true }));
      return `Order ${order} is refunded ${as.toLowerCase()}.`;
    },
  );
  app.tool(
    "deploy",
    { description: "Rolls a version out.", inputSchema: Deploy, task: "required" },
    async ({ service, version }, ctx) => {
      await ctx.background();
      await ctx.step("build-image", () => soon(160, { image: `${service}:${version}` }));
      await ctx.approve("production", `Deploy ${service} ${version} to production?`, {
        by: "release",
        about: { Service: service, Version: version, Region: "eu-west-1" },
        notify: noted(`deploy ${version}`),
      });
      // The newest one is still being rolled out when the pictures are taken.
      await ctx.step("roll-out", () => (version.startsWith("5.") ? forEver() : soon(90)));
      return `${service} ${version} is live.`;
    },
  );
  app.tool(
    "onboard",
    { description: "Gives a new colleague what they need.", inputSchema: Person, task: "required" },
    async ({ name }, ctx) => {
      await ctx.background();
      await ctx.step("make-account", () => soon(210, { account: name }));
      const { number } = await ctx.waitFor("badge", Badge, {
        about: { Name: name, Starts: "1 December" },
        notify: noted(`onboard ${name}`),
      });
      return `${name} has badge ${number}.`;
    },
  );
  app.tool(
    "import_csv",
    { description: "Imports a file, row by row.", inputSchema: File, task: "required" },
    async ({ file, batches }, ctx) => {
      await ctx.background();
      if (batches === 0) {
        await ctx.ask("column", "Which column holds the email address?", Column);
      }
      for (let batch = 0; batch < batches; batch++) {
        await ctx.step(`batch-${batch}`, () => ({ rows: 200, batch }));
        if (batch % 50 === 49) await ctx.sleep(`pause-${batch}`, 1);
      }
      return `${file} is imported.`;
    },
  );
  app.tool(
    "sync_stock",
    { description: "Reads the stock of a warehouse.", inputSchema: Warehouse, task: "required" },
    async ({ warehouse }, ctx) => {
      await ctx.background();
      await ctx.step("read-stock", () =>
        failing(warehouse === "Graz", 70, { warehouse, items: 4218 }),
      );
      return `The stock of ${warehouse} is up to date.`;
    },
  );
  if (isOld === true) {
    app.tool(
      "reindex",
      { description: "Builds the index again.", inputSchema: Index, task: "required" },
      async ({ index }, ctx) => {
        await ctx.background();
        await ctx.step("read", () => soon(50, { documents: 9120 }));
        await ctx.sleep("low-traffic", 60_000);
        await ctx.step("write", () => soon(80, { documents: 9120 }));
        return `${index} is built.`;
      },
    );
  }
  return app;
}

const Refund = z.object({
  order: z.int().min(1).meta({ title: "Order" }),
  reason: z.enum(["Damaged", "Late", "Other"]).meta({ title: "Reason" }),
  note: z.string().optional().meta({ title: "Note", description: "Only we see this." }),
});
const How = z.object({
  as: z.enum(["To the card", "As a voucher"]).meta({ title: "How to pay it back" }),
});
const Invoice = z.object({ invoice: z.string().min(4).meta({ title: "Invoice number" }) });
const Deploy = z.object({ service: z.string(), version: z.string() });
const Person = z.object({ name: z.string() });
const Badge = z.object({
  number: z.string().min(4).meta({ title: "Badge number", description: "On its back." }),
  floor: z.enum(["1", "2", "3"]).meta({ title: "Floor" }),
  from: z.iso.date().optional().meta({ title: "Valid from" }),
});
const Column = z.object({ column: z.string().meta({ title: "Column" }) });
const File = z.object({ file: z.string(), batches: z.int() });
const Warehouse = z.object({ warehouse: z.string() });
const Index = z.object({ index: z.string() });

/** Other services take their time. */
function soon(ms: number): Promise<null>;
function soon<T>(ms: number, value: T): Promise<T>;
function soon(ms: number, value: unknown = null): Promise<unknown> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), ms);
  });
}

async function failing<T>(isFailing: boolean, ms: number, value: T): Promise<T> {
  await soon(ms);
  if (isFailing) throw new Error("connect ECONNREFUSED 10.0.4.12:5432");
  return value;
}

async function crm(): Promise<never> {
  await soon(140);
  throw new Error("The CRM responded with 503.");
}

const forEver = () => new Promise<null>(() => {});

/** The first carrier is never booked, because its process is killed. */
async function booked(folder: string, order: number): Promise<{ readonly truck: string }> {
  try {
    writeFileSync(join(folder, `order-${order}`), "", { flag: "wx" });
  } catch {
    return soon(410, { truck: "truck-7" });
  }
  process.stdout.write("booking\n");
  return new Promise(() => {});
}
