// The App: shows the questions of a paused call inside the conversation, and sends the answers. It runs in a frame of the
// host, which may forbid forms to be submitted, so it listens to the buttons.

import type { AppNotification } from "@modelcontextprotocol/ext-apps";
import { h, render } from "preact";
import type { ComponentChild } from "preact";
import { answerCall } from "../protocol/paused-call.ts";
import { isObject, own } from "../util/objects.ts";
import { Host } from "./app-host.ts";
import { pauseIn } from "./app-pause.ts";
import type { Pause, Question } from "./app-pause.ts";
import { actions, Ask } from "./ask-form.ts";
import { Card } from "./card.ts";
import { defaultsOf, readForm } from "./form-values.ts";

/** What has been filled in, and what is wrong with it. */
interface Draft {
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: Readonly<Record<string, string>>;
  readonly error?: string | undefined;
}

/** How long the App waits before it asks again how a running call stands. The server takes its time to answer as well. */
const pollMs = 2_000;
const longestPollMs = 60_000;

/** How long the App waits for the host before it shows a question that may have been answered since. */
const statusMs = 5_000;

/** Longer than a server takes to answer a call. */
const answerMs = 120_000;

const from = document.title;
const root = document.documentElement;
const main = document.querySelector("main") ?? document.body;
/** Says that something happens. A screen reader reads it aloud. */
const progress = document.createElement("p");
progress.className = "progress";
progress.setAttribute("role", "status");
main.after(progress);
let shown: Pause | undefined;
let drafts: ReadonlyMap<string, Draft> = new Map();
let isBusy = false;
let canUpdateModel = false;
let timer: number | undefined;

const host = new Host(window, (notification) => void hear(notification));

async function hear(notification: AppNotification): Promise<void> {
  if (notification.method === "ui/notifications/host-context-changed") {
    dress(notification.params);
  } else if (notification.method === "ui/notifications/tool-result") {
    const pause = pauseIn(notification.params);
    if (pause === undefined) return;
    // The conversation may be an old one, whose questions have been answered since.
    const result = await send(pause, {}, statusMs).catch(() => notification.params);
    const now = pauseIn(result);
    if (now !== undefined) await show(now, result, false);
  }
}

// ---------------------------------------------------------------- the call

/** Sends answers. Without any, it asks how the call stands. */
function send(
  { call, secret }: Pause,
  answered: Record<string, unknown>,
  patienceMs = answerMs,
): Promise<unknown> {
  const params = { name: answerCall, arguments: { call, secret, ...answered } };
  return host.request({ method: "tools/call", params }, patienceMs);
}

/** Shows what a result asks, or hands it to the conversation. */
async function show(pause: Pause, result: unknown, isNews: boolean): Promise<void> {
  if (pause.questions.length > 0) {
    draw(pause);
    later(() => void poll(pause, pollMs), Math.max(longestPollMs, pause.expiresAt - Date.now()));
  } else if (pause.isRunning) {
    says("Sent", "The call is still running. You can go on with the chat in the meantime.");
    later(() => void poll(pause, pollMs), pollMs);
  } else if (isNews) {
    await handOver(result);
    says("Sent", "Go back to the chat, where more is needed from you.");
  }
}

/** Asks how the call stands: while it runs, and when its time is up. */
async function poll(pause: Pause, afterMs: number): Promise<void> {
  if (isBusy) return later(() => void poll(pause, afterMs), afterMs);
  const result = await send(pause, {}).catch(() => undefined);
  if (result !== undefined) return goOn(result);
  if (Date.now() > pause.expiresAt) return says("The call may have ended", backToChat);
  const next = Math.min(afterMs * 2, longestPollMs);
  later(() => void poll(pause, next), next);
}

const backToChat = "Go back to the chat and ask what happened.";

async function goOn(result: unknown): Promise<void> {
  const pause = pauseIn(result);
  if (pause !== undefined) return show(pause, result, true);
  await handOver(result);
  if (own(result, "isError") === true) says("The call has ended", backToChat);
  else says("Done", "Go back to the chat and say that you are done.");
}

/** The model reads it with the next message. If the host cannot pass it on, the model asks with `continue_call`. */
async function handOver(result: unknown): Promise<void> {
  const content = own(result, "content");
  const structured = own(result, "structuredContent");
  if (!canUpdateModel || !Array.isArray(content)) return;
  const params = { content, ...(isObject(structured) && { structuredContent: { ...structured } }) };
  await host.request({ method: "ui/update-model-context", params }, statusMs).catch(() => {});
}

/** Only one thing waits at a time. */
function later(run: () => void, ms: number): void {
  clearTimeout(timer);
  // A longer time would be none at all.
  timer = window.setTimeout(run, Math.min(ms, 2 ** 31 - 1));
}

// ---------------------------------------------------------------- what is shown

/** Each question has a form of its own, because each one can be declined. What is filled in elsewhere stays. */
function draw(pause: Pause): void {
  const { questions } = pause;
  drafts = new Map(questions.map((question) => [question.key, draftOf(question)]));
  shown = pause;
  put(
    questions.map((question, index) => {
      const { key, message, form } = question;
      const { values, errors, error } = draftOf(question);
      const input = { kind: "form", form, questionKey: key, values, errors } as const;
      const idPrefix = `q${index}-`;
      return h(Ask, { key, from, message, input, idPrefix, canDecline: true, error });
    }),
  );
}

const draftOf = ({ key, form }: Question): Draft =>
  drafts.get(key) ?? { values: defaultsOf(form), errors: {} };

function note(pause: Pause, { key }: Question, draft: Draft): void {
  drafts = new Map([...drafts, [key, draft]]);
  draw(pause);
}

function says(title: string, text: string): void {
  clearTimeout(timer);
  shown = undefined;
  put(h(Card, { from, title, role: "status" }, h("p", {}, text)));
}

function put(content: ComponentChild): void {
  const hadFocus = main.contains(document.activeElement);
  render(content, main);
  // The button that was pressed is gone. The keyboard goes on where something new begins.
  if (hadFocus && !main.contains(document.activeElement)) focusOn(".title");
}

const focusOn = (selector: string): void => main.querySelector<HTMLElement>(selector)?.focus();

function busy(is: boolean): void {
  isBusy = is;
  if (is) main.setAttribute("aria-busy", "true");
  else main.removeAttribute("aria-busy");
  progress.textContent = is ? "Sending your answer. This can take a minute." : "";
}

/** Takes over the theme of the host, and its colours and fonts where it names them. */
function dress(context: unknown): void {
  const theme = own(context, "theme");
  if (theme !== undefined) root.classList.toggle("dark", theme === "dark");
  for (const [name, value] of Object.entries(own(own(context, "styles"), "variables") ?? {})) {
    if (name.startsWith("--")) root.style.setProperty(name, String(value));
  }
}

// ---------------------------------------------------------------- what the person does

main.addEventListener("click", (event) => {
  const { target } = event;
  const place = target instanceof Element ? target.closest("button, a") : null;
  if (place === null) return;
  // In a frame, the address of a place in this document can be that of another document.
  event.preventDefault();
  if (place instanceof HTMLButtonElement) void press(place);
  else focusOn(`[id="${place.getAttribute("href")?.slice(1) ?? ""}"]`);
});

async function press({ form, value }: HTMLButtonElement): Promise<void> {
  if (shown === undefined || form === null || isBusy) return;
  const pause = shown;
  const question = pause.questions[[...main.querySelectorAll("form")].indexOf(form)];
  if (question === undefined) return;
  const { key } = question;
  if (value === actions.decline) return answer(pause, question, { decline: [key] });
  const sent = new URLSearchParams();
  for (const [name, text] of new FormData(form)) {
    // A form of ours sends no files.
    if (typeof text === "string") sent.append(name, text);
  }
  const { content, errors } = readForm(question.form, sent);
  note(pause, question, { values: content, errors });
  if (Object.keys(errors).length > 0) {
    form
      .querySelector<HTMLElement>("[aria-invalid]:is(input,select,textarea),[aria-invalid] input")
      ?.focus();
    return;
  }
  const isConfirmation = Object.keys(question.form.properties).length === 0;
  // Not with an assignment, because a key may be "__proto__".
  const answers = Object.fromEntries([[key, isConfirmation ? true : content]]);
  await answer(pause, question, { answers });
}

async function answer(
  pause: Pause,
  question: Question,
  answered: Record<string, unknown>,
): Promise<void> {
  busy(true);
  try {
    await goOn(await send(pause, answered));
  } catch {
    const error =
      "Your answer could not be sent. Please try again, or go back to the chat and ask what happened.";
    note(pause, question, { ...draftOf(question), error });
  } finally {
    busy(false);
  }
}

// ---------------------------------------------------------------- the beginning

const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
dress({ theme: dark ? "dark" : "light" });
// A host that does not answer, or refuses, gets to see nothing.
const introduced = await host.connect();
canUpdateModel = own(own(introduced, "hostCapabilities"), "updateModelContext") !== undefined;
dress(own(introduced, "hostContext") ?? {});
new ResizeObserver(() => {
  const { width, height } = root.getBoundingClientRect();
  const params = { width: Math.ceil(width), height: Math.ceil(height) };
  host.notify({ method: "ui/notifications/size-changed", params });
}).observe(root);
