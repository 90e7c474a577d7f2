// One handler with every kind of question: a form, a choice, a secret, a wait for somebody else and a confirmation. It is the
// same for every client. What its bodies do, the world outside notes.

import { parley } from "mcp-parley";
import type { App, CommonOptions } from "mcp-parley";
import { z } from "zod";
import { keys, quiet } from "../interop/errands.ts";

const Trip = z.object({ to: z.string().min(1), nights: z.int().min(1) });
const Approval = z.object({ by: z.string().min(1) });

/** An app with the tool. Its bodies report to the address of a world. */
export function tripApp(world: string, options: CommonOptions): App {
  const app = parley({
    name: "trips",
    version: "1.0.0",
    keys,
    logger: quiet,
    relay: true,
    ...options,
  });
  const report = async (what: string, text: string): Promise<void> => {
    await fetch(`${world}/${what}`, { method: "POST", body: text });
  };
  const config = {
    description: "Books a trip.",
    inputSchema: z.object({ who: z.string() }),
    task: "optional",
    ui: "form",
  } as const;
  app.tool("book_trip", config, async ({ who }, ctx) => {
    const trip = await ctx.ask("trip", "Where to, and for how long?", Trip, { relay: true });
    const seat = await ctx.choose("seat", "Which seat?", ["Aisle", "Window"], { relay: true });
    await ctx.step("hold", () => report("did", `hold ${trip.to} ${seat}`));
    const card = await ctx.ask("card", "Your card number?", undefined, { sensitive: true });
    await ctx.step("reserve", () => report("did", `reserve with ${card}`));
    const { by } = await ctx.waitFor("approval", Approval, {
      about: { Trip: `${trip.to}, ${trip.nights} nights` },
      notify: async ({ url }) => {
        await report("did", "notify");
        await report("mail", url);
      },
    });
    const isSure = await ctx.confirm("sure", `Pay for ${who}?`);
    await ctx.step("pay", () => report("did", `pay ${isSure}`));
    return `${who} goes to ${trip.to} for ${trip.nights} nights, ${seat}, approved by ${by}, paid: ${isSure}`;
  });
  return app;
}

/** What people fill in, by the name of the field. */
export const fields: Readonly<Record<string, string | number>> = {
  to: "Oslo",
  nights: 3,
  seat: "Window",
  card: "4111",
  by: "bo",
};

export const outcome = "Ada goes to Oslo for 3 nights, Window, approved by bo, paid: true";
/** What the bodies do, each once. */
export const deeds = ["hold Oslo Window", "reserve with 4111", "notify", "pay true"];
