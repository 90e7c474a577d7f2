import { declined, play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { bookSeats, planTrip, rateTrip } from "./tool.ts";

test("each kind of question gives its own type of answer", async () => {
  const call = await play(
    planTrip,
    { city: "Oslo" },
    {
      name: "Ada",
      travellers: 2,
      hotel: { nights: 3, breakfast: false },
      by: "train",
      insurance: declined,
    },
  );
  expect(call.text).toBe("Ada: 2 to Oslo by train, 3 nights, without insurance");
  expect(call.rounds).toBe(6);
});

test("questions that are awaited together take one round", async () => {
  const call = await play(bookSeats, { train: "R40" }, { there: "window", back: "aisle" });
  expect(call.text).toBe("R40: window there, aisle back");
  expect(call.rounds).toBe(2);
});

test("a declined question can be caught", async () => {
  expect((await play(rateTrip, {}, { stars: 4 })).text).toBe("Thank you for 4 stars.");
  expect((await play(rateTrip, {}, { stars: declined })).text).toBe("No rating (declined).");
});
