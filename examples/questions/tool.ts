// Every way to ask a person, in one tool that plans a trip.

import { parley, UnansweredError } from "mcp-parley";
import { z } from "zod";

const app = parley({ name: "travel", version: "1.0.0" });

// #region schemas
// Create schemas outside the handler: the handler runs again in every round.
const Travellers = z.int().min(1).max(9);
const Hotel = z.object({
  nights: z.int().positive().describe("How many nights?"),
  breakfast: z.boolean().default(true),
});
// #endregion

export const planTrip = app.tool(
  "plan_trip",
  { description: "Plan a trip", inputSchema: z.object({ city: z.string() }) },
  async ({ city }, ctx) => {
    // #region kinds
    // One line of text.
    const name = await ctx.ask("name", "Who is travelling?");

    // One typed value.
    const travellers = await ctx.ask("travellers", "How many of you?", Travellers);

    // A form with several fields.
    const { nights, breakfast } = await ctx.ask("hotel", `Your stay in ${city}`, Hotel);

    // One of several values, shown under titles.
    const travelBy = await ctx.choose("by", "How do you want to travel?", [
      { value: "train", title: "By train, 4 hours" },
      { value: "plane", title: "By plane, 1 hour" },
    ]);

    // Yes or no. Declining and cancelling count as no.
    const isInsured = await ctx.confirm("insurance", "Add travel insurance?");
    // #endregion

    const stay = `${nights} nights${breakfast ? " with breakfast" : ""}`;
    const insurance = isInsured ? "with insurance" : "without insurance";
    return `${name}: ${travellers} to ${city} by ${travelBy}, ${stay}, ${insurance}`;
  },
);

export const bookSeats = app.tool(
  "book_seats",
  { description: "Book two seats", inputSchema: z.object({ train: z.string() }) },
  async ({ train }, ctx) => {
    // #region together
    // Both questions go out in the same round.
    const [there, back] = await Promise.all([
      ctx.choose("there", "Seat on the way there?", ["window", "aisle"]),
      ctx.choose("back", "Seat on the way back?", ["window", "aisle"]),
    ]);
    // #endregion
    return `${train}: ${there} there, ${back} back`;
  },
);

export const rateTrip = app.tool("rate_trip", { description: "Rate a trip" }, async (ctx) => {
  // #region unanswered
  try {
    const stars = await ctx.ask("stars", "How many stars?", z.int().min(1).max(5), {
      timeoutMs: 5 * 60_000,
    });
    return `Thank you for ${stars} stars.`;
  } catch (error) {
    if (!(error instanceof UnansweredError)) throw error;
    // error.reason is "declined", "cancelled", "timed_out" or "unsupported".
    return `No rating (${error.reason}).`;
  }
  // #endregion
});
