// What a model is told about a call that is not finished. The first block is an instruction in our words alone, so that no
// text of an author, a client or a person can pose as one. The second block holds the questions as JSON, after a word: a
// client that prefers JSON would otherwise show that block alone, without the instruction.

import type { FormField, FormJson } from "../../protocol/form.ts";
import { pauseMeta } from "../../protocol/paused-call.ts";
import { controls, hidden } from "../../util/unsafe-characters.ts";
import type { WireResult } from "../define/definition.ts";
import type { Pause, PausedQuestion } from "./kept-pause.ts";

/** What else a model is told. */
export interface PauseNotes {
  /** What the task reports. */
  readonly status?: string | undefined;
  /** Answers that were not taken, because their questions are not open. */
  readonly ignored?: readonly string[] | undefined;
}

/** The result of a request that ends with a pause. */
export function pauseResult(
  handle: string,
  pause: Pause,
  hasOutput: boolean,
  notes: PauseNotes = {},
): WireResult {
  const details = detailsOf(pause, notes);
  return {
    content: [
      { type: "text", text: instruction(handle, pause) },
      ...(details === undefined ? [] : [{ type: "text", text: `${label}${details}` }]),
    ],
    // Structured content cannot exist yet, and only an error may be without it.
    ...(hasOutput ? { isError: true } : {}),
    _meta: {
      [pauseMeta]: {
        call: handle,
        questions: pause.questions,
        expiresAt: new Date(pause.expiresAt).toISOString(),
        ...(pause.secret === undefined ? {} : { secret: pause.secret }),
      },
    },
  };
}

function instruction(handle: string, { tool, questions, task }: Pause): string {
  const ways = new Set(Object.values(questions).map(({ way }) => way));
  const call = `"call":"${handle}"`;
  // A name with other characters could be made to read like an instruction.
  const name = /^[\w.-]{1,64}$/.test(tool) ? tool : "the tool";
  const again = `Do not call ${name} again: that would start a second call.`;
  if (ways.size === 0) {
    const what = task === undefined ? "Not finished." : "Not finished. It is still running.";
    return `${what} Call continue_call with {${call}} in 10 s to see how it stands. ${again}`;
  }
  const parts = ["Not finished. An answer from the user is needed."];
  if (ways.has("relay")) {
    parts.push(
      `Ask them the questions below and then call continue_call with {${call},"answers":{…}}, or with "decline":["key"] for what they do not want to answer.`,
    );
  }
  if (ways.has("app")) {
    // A client may say that it renders Apps, and be part of a program that does not.
    parts.push(
      "A form is shown to the user. Wait. If they see none, tell them that this client cannot show it.",
    );
  }
  if (ways.has("link")) parts.push("Give them the address below, where they answer on a page.");
  if (!ways.has("relay")) {
    parts.push(`When they say that they are done, call continue_call with {${call}}.`);
  }
  return `${parts.join(" ")} Do not answer for the user. ${again}`;
}

// ---------------------------------------------------------------- the questions

const label = "Details: ";
const mostBytes = 4_096 - label.length;
const fits = (text: string) => Buffer.byteLength(text) <= mostBytes;

/** How much of each question is shown, from everything to hardly anything. */
const cuts = [
  { choices: 200, text: 2_000 },
  { choices: 50, text: 600 },
  { choices: 20, text: 200 },
  { choices: 5, text: 80 },
] as const;
type Cut = (typeof cuts)[number];

function detailsOf({ questions }: Pause, { status, ignored = [] }: PauseNotes): string | undefined {
  const entries = Object.entries(questions);
  if (entries.length === 0 && status === undefined && ignored.length === 0) return undefined;
  const written = (some: typeof entries, cut: Cut) =>
    JSON.stringify({
      ...(status === undefined ? {} : { status: plain(status, cut.text) }),
      ...(entries.length === 0
        ? {}
        : {
            questions: Object.fromEntries(
              some.map(([key, one]) => [plain(key, 80), shownAs(key, one, cut)]),
            ),
          }),
      ...(some.length === entries.length ? {} : { moreQuestions: entries.length - some.length }),
      ...(ignored.length === 0
        ? {}
        : { ignoredAnswers: ignored.slice(0, 10).map((key) => plain(key, 80)) }),
    });
  for (const cut of cuts) {
    const text = written(entries, cut);
    if (fits(text)) return text;
  }
  let some = entries;
  while (some.length > 1 && !fits(written(some, cuts[3]))) {
    some = some.slice(0, Math.ceil(some.length / 2));
  }
  return written(some, cuts[3]);
}

/** A question as the model reads it. One value has the schema of the value, a confirmation that of a boolean. */
function shownAs(key: string, { way, request }: PausedQuestion, cut: Cut): object {
  if (request.method !== "elicitation/create") return {};
  const { params } = request;
  const message = plain(params.message, cut.text);
  if (params.mode === "url") return { message, url: params.url };
  if (way !== "relay") return { message };
  return { message, schema: cutSchema(schemaFor(key, params.requestedSchema), cut) };
}

function schemaFor(key: string, form: FormJson): FormJson | FormField {
  const { properties } = form;
  const names = Object.keys(properties);
  if (names.length === 0) return { type: "boolean" };
  const [only] = names;
  return (names.length === 1 && only === key ? properties[key] : undefined) ?? form;
}

/** Shortens texts and lists of choices anywhere in a schema. */
function cutSchema(value: unknown, cut: Cut): unknown {
  if (typeof value === "string") return plain(value, cut.text);
  if (Array.isArray(value)) {
    const kept = value.slice(0, cut.choices).map((one) => cutSchema(one, cut));
    return kept.length === value.length
      ? kept
      : [...kept, `… and ${value.length - kept.length} more`];
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [plain(name, 80), cutSchema(member, cut)]),
  );
}

function plain(text: string, most: number): string {
  const safe = text.replaceAll(controls, "").replaceAll(hidden, "");
  return safe.length <= most ? safe : `${safe.slice(0, most).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
