// The errands of mcpkit's tutorial, section by section: what its client does with our port of the tutorial, and what our
// clients do with its server.

import type { Errand, Job } from "./peer-errands.ts";

const modern = { era: "2026-07-28" } as const;
const alice = {
  "What is your name?": { action: "accept", content: { name: "Alice" } },
} satisfies Errand["answers"];
const greet = { ...modern, tool: "test_tool_with_elicitation", answers: alice };
const confirm = {
  ...modern,
  answers: { "Please confirm": { action: "accept", content: { ok: true } } },
} satisfies Errand;
const composition: Errand = {
  ...modern,
  tool: "composition",
  task: "follow",
  answers: {
    ...alice,
    "Which colour has a house for Alice?": { action: "accept", content: { colour: "red" } },
  },
};
const house = "a house for Alice, red";
const greeted = { text: "Hello, Alice!" };
const asModel = "What is the capital of France?, said the model";

/** What its client does with our port. */
export const tutorialToParley = {
  "tutorial-greet": { errand: greet, ends: greeted },
  "tutorial-state": { errand: { ...confirm, tool: "confirm" }, ends: { text: "Confirmed." } },
  "tutorial-together": {
    errand: { ...modern, tool: "gather", answers: alice },
    ends: { text: "Alice; Generate a greeting, said the model; file:///home/ada" },
  },
  "tutorial-sampling": { errand: { ...modern, tool: "capital" }, ends: { text: asModel } },
  "tutorial-roots": {
    errand: { ...modern, tool: "search" },
    ends: { text: "Searched file:///home/ada" },
  },
  "tutorial-incapable": {
    errand: { ...greet, slip: "no capabilities" },
    ends: {
      text: "",
      error: {
        code: -32021,
        message:
          'Question "user_name" of "test_tool_with_elicitation" was not asked: this client supports neither forms nor pages, and relay is off for it. The question is: "What is your name?". It expects text.',
      },
    },
  },
  "tutorial-progress": {
    errand: { ...modern, tool: "summarize", progress: 47 },
    ends: { text: "Summarized.", progress: 47 },
  },
  "tutorial-quiet": {
    errand: { ...composition, progress: 0 },
    ends: { text: house, progress: 0 },
  },
  "tutorial-rounds": {
    errand: {
      ...modern,
      tool: "multi_round",
      answers: {
        "What is your name?": { action: "accept", content: { step1: "Alice" } },
        "What is your favourite colour, Alice?": { action: "accept", content: { step2: "blue" } },
      },
    },
    ends: { text: "Hi Alice, your favourite colour is blue." },
  },
  "tutorial-wrong-key": { errand: { ...greet, slip: "wrong key" }, ends: greeted },
  "tutorial-task": { errand: composition, ends: { text: house } },
  "tutorial-altered": {
    errand: { ...greet, slip: "altered state" },
    ends: { text: "", error: { code: -32602, message: "Invalid or expired requestState" } },
  },
} satisfies Readonly<Record<string, Job>>;

/** What our clients do with its server. */
export const tutorialToPeer = {
  "tutorial-greet": { errand: greet, ends: greeted },
  "tutorial-state": {
    errand: { ...confirm, tool: "test_incomplete_result_request_state" },
    ends: { text: "state-ok: requestState round-trip verified" },
  },
  "tutorial-together": {
    errand: { ...modern, tool: "test_incomplete_result_multiple_inputs", answers: alice },
    ends: { text: "got name + greeting + roots" },
  },
  "tutorial-sampling": {
    errand: { ...modern, tool: "test_incomplete_result_sampling" },
    ends: { text: `model said: ${asModel}` },
  },
  "tutorial-roots": {
    errand: { ...modern, tool: "test_incomplete_result_list_roots" },
    ends: { text: "client roots: file:///home/ada" },
  },
  "tutorial-progress": {
    errand: { ...modern, tool: "summarize", progress: 47 },
    ends: { text: "Summarized.", progress: 47 },
  },
  "tutorial-quiet": {
    errand: { ...modern, tool: "quiet", task: "follow", progress: 0 },
    ends: { text: "Done quietly.", progress: 0 },
  },
  "tutorial-rounds": {
    errand: {
      ...modern,
      tool: "test_incomplete_result_multi_round",
      answers: {
        "Step 1: What is your name?": { action: "accept", content: { name: "Alice" } },
        "Step 2: What is your favorite color?": { action: "accept", content: { color: "blue" } },
      },
    },
    ends: { text: "Hi Alice, your favorite color is blue." },
  },
  "tutorial-task": {
    errand: { ...modern, tool: "test_tool_with_task", task: "follow", answers: alice },
    ends: { text: "Hello, Alice! (computed in task)" },
  },
} satisfies Readonly<Record<string, Job>>;
