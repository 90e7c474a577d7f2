import { crashTest, play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { mixed, multiRound } from "./multi-round.ts";
import { deferred, wizard } from "./wizard.ts";

test("the wizard still knows the name when it has the age", async () => {
  const call = await play(wizard, {}, { name: "Ada", age: 36 });
  expect(call.text).toBe("Welcome, Ada! You are 36 years old.");
  expect(call.asked.map(({ message }) => message)).toEqual([
    "What's your name?",
    "Hi Ada! How old are you?",
  ]);
});

test("deferred work goes on in another round, with no question", async () => {
  const call = await play(deferred, {});
  expect(call).toMatchObject({ text: "Completed step 1", rounds: 2, asked: [] });
  expect(call.ran("first half")).toBe(1);
});

test("the multi-round tool has all answers in its last round", async () => {
  const call = await play(multiRound, {}, { step1: "Alice", step2: "blue" });
  expect(call.text).toBe("Hi Alice, your favourite colour is blue.");
  expect(call.rounds).toBe(3);
});

test("a form and a completion go out together", async () => {
  const call = await play(mixed, {}, { github_login: "octocat", capital_of_france: "Paris." });
  expect(call.text).toBe("octocat: Paris.");
  expect(call.rounds).toBe(2);
  expect(call.asked.map(({ kind }) => kind)).toEqual(["form", "sampling"]);
});

test("mishaps change none of them", async () => {
  await expect(crashTest(wizard, {}, { name: "Ada", age: 36 })).resolves.toMatchObject({
    repeats: [],
  });
  await expect(crashTest(multiRound, {}, { step1: "a", step2: "b" })).resolves.toMatchObject({
    repeats: [],
  });
});

test("work in the first round is repeated under a new key when its response is lost, and the kit says so", async () => {
  await expect(crashTest(deferred, {})).rejects.toThrow(
    'response 1 lost: step "first half" ran 2 times, again under a new idempotency key. Ask before it, or list it in mayRepeat if it only reads.',
  );
  await expect(crashTest(deferred, {}, {}, { mayRepeat: ["first half"] })).resolves.toMatchObject({
    repeats: [],
  });
});
