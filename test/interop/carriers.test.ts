// One handler file and one test body for every carrier. A call ends in the same words on each of them, and every step
// body runs once.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { carriers } from "./carriers.ts";
import type { Connected } from "./clients.ts";
import { People } from "./people.ts";

describe.each(carriers)("over $name", ({ open, mostRounds, refusal }) => {
  let people: People;
  let client: Connected;

  beforeAll(async () => {
    people = new People();
    client = await open(people);
  });
  afterAll(() => client?.close());
  beforeEach(async () => {
    people.shown.length = 0;
    people.refuses = undefined;
    await done();
  });

  /** What the step bodies have done since the last call of this function. */
  async function done(): Promise<unknown> {
    const { data } = await client.tool("ledger");
    return (data as { done: unknown }).done;
  }

  test("a tool asks a form, a choice, a confirmation, the model and the roots, each after a step that runs once [S33] [S38] [E1.1]", async () => {
    expect(await client.tool("book_trip", { to: "Turin" })).toMatchObject({
      text: "Ada, 2 seats, Night train, booked, “A motto for a trip to Turin, said the model”, filed in file:///home/ada",
      isError: false,
    });
    expect(people.shown).toEqual([
      { kind: "form", message: "3 trains to Turin. Who travels?" },
      { kind: "form", message: "How does Ada travel?" },
      { kind: "form", message: "Book 2 seats by Night train?" },
      { kind: "sampling", message: "A motto for a trip to Turin" },
      { kind: "roots", message: "" },
    ]);
    expect(await done()).toEqual(["search", "hold", "price", "book", "print", "file"]);
  });

  test("two questions go out in one round", async () => {
    expect(await client.tool("together")).toMatchObject({
      text: "Ada in Name a place, said the model",
    });
    expect(people.shown).toHaveLength(2);
    expect(await done()).toEqual(["together"]);
  });

  test("a prompt asks [S20]", async () => {
    expect(await client.prompt("letter", { tone: "stern" })).toBe("Write a stern letter to Byron.");
    expect(await done()).toEqual(["paper"]);
  });

  test("a resource with a fixed URI asks", async () => {
    expect(await client.read("diary://today")).toBe("a good day");
    expect(await done()).toEqual(["open"]);
  });

  test("a resource of a template asks", async () => {
    expect(await client.read("diary://days/monday")).toBe("monday in ink");
    expect(await done()).toEqual(["turn"]);
  });

  test("a checkpoint ends the request, and the work continues where it was, reporting its progress once [E1.5] [S70]", async () => {
    const seen: number[] = [];
    expect(
      await client.tool("import_rows", {}, (progress) => void seen.push(progress)),
    ).toMatchObject({ text: "imported", isError: false });
    // The official clients lose progress that arrives together with the result. None arrives twice.
    expect(seen).toEqual([...new Set(seen)].toSorted((one, other) => one - other));
    expect(people.shown).toEqual([]);
    expect(await done()).toEqual(["first half", "second half"]);
  });

  test("a tool that drives its rounds itself has all answers and its state", async () => {
    expect(await client.tool("wizard")).toMatchObject({
      text: "Ada is 36; last asked for the age",
    });
    expect(people.shown.map(({ message }) => message)).toEqual(["Name?", "Age?"]);
    expect(await done()).toEqual(["wizard"]);
  });

  test("a page is shown with a ticket", async () => {
    expect(await client.tool("sign_in")).toMatchObject({ text: "signed in" });
    expect(people.shown).toEqual([{ kind: "url", message: "Sign in" }]);
    expect(await done()).toEqual(["sign in"]);
  });

  test("a tool that asks nothing returns at once", async () => {
    expect(await client.tool("ledger")).toMatchObject({ data: { done: [] }, isError: false });
    expect(people.shown).toEqual([]);
  });

  test.each(["decline", "cancel"] as const)(
    "answering with %s ends the call with a result that says so, and no further body runs [S37]",
    async (action) => {
      people.refuses = { message: "How does Ada travel?", action };
      expect(await client.tool("book_trip", { to: "Turin" })).toMatchObject({
        text: `Question "by" was ${action === "decline" ? "declined" : "cancelled without an answer"}.`,
        isError: true,
      });
      expect(await done()).toEqual(["search", "hold"]);
    },
  );

  test("arguments that do not fit are refused before anything runs", async () => {
    expect(await client.tool("book_trip", { to: 7 })).toMatchObject({ isError: true });
    expect(await done()).toEqual([]);
  });

  test("the tools are listed in the order of their registration [S19]", async () => {
    expect(await client.toolNames()).toEqual([
      "book_trip",
      "together",
      "import_rows",
      "wizard",
      "count_to",
      "sign_in",
      "ledger",
    ]);
  });

  test("a call can ask as many questions as the official side allows, one after the other", async () => {
    const n = Math.min(mostRounds, 12);
    expect(await client.tool("count_to", { n })).toMatchObject({ text: `counted to ${n}` });
  });

  if (refusal === undefined) return;

  test("one more question is refused with a message [E1.6]", async () => {
    const counted = client.tool("count_to", { n: mostRounds + 1 }).then(
      ({ text, isError }) => (isError ? text : "no error"),
      (error: unknown) => String(error),
    );
    expect(await counted).toContain(refusal);
  });
});
