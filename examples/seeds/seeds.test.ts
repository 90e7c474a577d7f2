// Plays every tool of the documents that the project began with.

import { parley } from "mcp-parley";
import type { App } from "mcp-parley";
import { crashTest, declined, play } from "mcp-parley/testing";
import { describe, expect, test } from "vitest";
import { answerQuestion, confirmAction } from "./confirm-action.ts";
import { deferred, deferredByHand } from "./deferred.ts";
import { echo } from "./echo.ts";
import { composition, greet, multiRound, searchRoots, summarize } from "./mcpkit.ts";
import { mixed } from "./mixed.ts";
import { provisionVm } from "./provision-vm.ts";
import { cityWeather, weather, weatherInUnits } from "./weather.ts";
import { wizard, wizardByHand } from "./wizard.ts";
import { updateWorkItem } from "./work-item.ts";

const made = <T>(tool: (app: App) => T): T => tool(parley({ name: "seeds", version: "1.0.0" }));

describe("the MRTR proposal's tools", () => {
  test("the weather tool asks who wants to know", async () => {
    const call = await play(
      made(weather),
      { location: "New York" },
      { github_login: { name: "octocat" } },
    );
    expect(call.text).toMatch(/^Current weather in New York:/);
    expect(call.rounds).toBe(2);
  });

  test("a duplicate takes two questions, and any other resolution takes one", async () => {
    const update = made(updateWorkItem);
    const args = { workItemId: 4522, fields: { "System.State": "Resolved" } };
    const duplicate = await play(update, args, {
      resolution: { resolution: "Duplicate" },
      duplicate_of: { duplicateOfId: 4301 },
    });
    expect(duplicate.text).toMatch(/^Bug #4522 resolved as Duplicate of Bug #4301\./);
    expect(duplicate.rounds).toBe(3);
    const fixed = await play(update, args, { resolution: { resolution: "Fixed" } });
    expect(fixed).toMatchObject({
      text: "Bug #4522 resolved as Fixed. State set to Resolved.",
      rounds: 2,
    });
  });

  test("the echo tool asks in its task, unless the arguments already have the answer", async () => {
    const asked = await play(made(echo), {}, { echo_input: "Hello World!" }, { client: "task" });
    expect(asked.text).toBe("Echo: Hello World!");
    expect(asked.task?.statuses).toEqual(["working", "input_required", "working", "completed"]);
    const told = await play(made(echo), { input: "Hi" }, {}, { client: "task" });
    expect(told).toMatchObject({ text: "Echo: Hi", asked: [] });
  });

  test("a form and a completion request go out together", async () => {
    const call = await play(
      made(mixed),
      {},
      { github_login: "octocat", capital_of_france: "Paris." },
    );
    expect(call).toMatchObject({ text: "octocat: Paris.", rounds: 2 });
    expect(call.asked.map(({ kind }) => kind)).toEqual(["form", "sampling"]);
  });
});

describe("the C# SDK's page's tools", () => {
  test("the wizard still knows the name when it has the age", async () => {
    for (const tool of [made(wizard), made(wizardByHand)]) {
      const call = await play(tool, {}, { name: "Ada", age: 36 });
      expect(call.text).toBe("Welcome, Ada! You are 36 years old.");
      expect(call.rounds).toBe(3);
      expect(call.asked.map(({ message }) => message)).toEqual([
        "What's your name?",
        "Hi Ada! How old are you?",
      ]);
    }
  });

  test("deferred work continues in another round without a question", async () => {
    const call = await play(made(deferred), {});
    expect(call).toMatchObject({ text: "Completed step 1", rounds: 2, asked: [] });
    expect(call.ran("first half")).toBe(1);
    expect(await play(made(deferredByHand), {})).toMatchObject({
      text: "Completed step 1",
      rounds: 2,
    });
  });

  test("an action is confirmed or cancelled", async () => {
    const args = { action: "delete all files" };
    const yes = await play(made(confirmAction), args, { confirm: true });
    expect(yes.text).toBe("Action confirmed!");
    const no = await play(made(confirmAction), args, { confirm: declined });
    expect(no.text).toBe("Action cancelled.");
  });

  test("the low-level tool asks, and has its own message for a client that cannot be asked", async () => {
    const args = { question: "why?" };
    const told = await play(made(answerQuestion), args, { user_answer: "because" });
    expect(told).toMatchObject({ text: "You answered: because", rounds: 2 });
    const cannot = await play(
      made(answerQuestion),
      args,
      {},
      { client: { can: ["sampling", "roots"] } },
    );
    expect(cannot).toMatchObject({ rounds: 1, asked: [] });
    expect(cannot.text).toMatch(/your client cannot be asked/);
  });

  test("the tool asks for the units", async () => {
    const call = await play(made(weatherInUnits), { location: "Oslo" }, { units: "Celsius" });
    expect(call.text).toBe("Weather for Oslo in Celsius: 72°");
  });

  test("a VM is confirmed in a round, then created in the task, which asks about it", async () => {
    const args = { vmName: "web", asksForZone: true };
    const call = await play(
      made(provisionVm),
      args,
      { costs: true, zone: "north" },
      { client: "task" },
    );
    expect(call.text).toBe("VM 'web' provisioned successfully in north.");
    expect(call).toMatchObject({ rounds: 2, task: { statuses: expect.anything() } });
    const no = await play(
      made(provisionVm),
      { vmName: "web" },
      { costs: false },
      { client: "task" },
    );
    expect(no).toMatchObject({ text: "Cancelled by user.", task: undefined });
  });
});

describe("the mcpkit tutorial's tools", () => {
  test("a greeting takes one round", async () => {
    const call = await play(made(greet), {}, { user_name: { name: "Alice" } });
    expect(call).toMatchObject({ text: "Hello, Alice!", rounds: 2 });
  });

  test("the multi-round tool has all answers in its last round", async () => {
    const call = await play(made(multiRound), {}, { step1: "Alice", step2: "blue" });
    expect(call.text).toBe("Hi Alice, your favourite colour is blue.");
    expect(call.rounds).toBe(3);
  });

  test("the client supplies its roots, and the user types nothing", async () => {
    const roots = [{ uri: "file:///work/repo-a/" }, { uri: "file:///work/repo-b/" }];
    const call = await play(made(searchRoots), {}, { client_roots: roots });
    expect(call.text).toBe("Searched file:///work/repo-a/, file:///work/repo-b/");
    expect(call.asked).toMatchObject([{ kind: "roots" }]);
  });

  test("one handler has three phases: a round, a task, and a question in the task", async () => {
    const script = { user_name: { name: "Alice" }, colour: "blue" };
    const call = await play(made(composition), {}, script, { client: "task" });
    expect(call.text).toBe("a house for Alice, blue");
    expect(call.ran("expensive work")).toBe(1);
    expect(call.task?.statuses).toEqual(["working", "input_required", "working", "completed"]);
  });

  test("the summary completes", async () => {
    expect((await play(made(summarize), {})).text).toBe("Summarized.");
  });
});

describe("the response types' weather", () => {
  const fine = /^Current weather in New York:/;
  const failed = /^Error: Unable to retrieve weather data for New York\.$/;
  test.each([
    ["at once", {}, fine],
    ["as a failure", { isDown: true }, failed],
    ["after a question", { asks: true }, fine],
    ["in the background", { isSlow: true }, fine],
    ["after a question in the background", { isSlow: true, asks: true }, fine],
    ["as a failure in the background", { isSlow: true, isDown: true }, failed],
  ])("comes %s", async (_, day, text) => {
    const tool = made((app) => cityWeather(app, day));
    const call = await play(tool, { city: "New York" }, { name: "octocat" }, { client: "task" });
    expect(call.text).toMatch(text);
    expect(call.isError).toBe(text === failed);
    expect(call.task !== undefined).toBe("isSlow" in day);
  });
});

describe("mishaps", () => {
  test("do not change the outcome of the tools that ask", async () => {
    const none = { repeats: [] };
    await expect(crashTest(made(wizard), {}, { name: "Ada", age: 36 })).resolves.toMatchObject(
      none,
    );
    await expect(
      crashTest(made(multiRound), {}, { step1: "a", step2: "b" }),
    ).resolves.toMatchObject(none);
  });

  test("work in the first round is repeated under a new key when its response is lost, and the kit reports it", async () => {
    await expect(crashTest(made(deferred), {})).rejects.toThrow(
      'response 1 lost: step "first half" ran 2 times, under different idempotency keys. Ask a question before it, or add it to mayRepeat if it only reads.',
    );
    await expect(
      crashTest(made(deferred), {}, {}, { mayRepeat: ["first half"] }),
    ).resolves.toMatchObject({ repeats: [] });
  });
});
