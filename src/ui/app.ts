// The App: shows the questions of a paused call inside the conversation, one after the other, and sends the answers. It runs
// in a frame of the host, which may forbid forms to be submitted, so it listens to the buttons.

import type { AppNotification, McpUiHostContext } from "@modelcontextprotocol/ext-apps";
import { h, render } from "preact";
import type { ComponentChild } from "preact";
import type { FormJson } from "../protocol/form.ts";
import { answerCall, pauseMeta } from "../protocol/paused-call.ts";
import { isObject, own } from "../util/objects.ts";
import { Host } from "./app-host.ts";
import { Ask, buttons } from "./ask-form.ts";
import { defaultsOf, readForm } from "./form-values.ts";

/** A pause, as far as the App needs it. */
interface Pause {
  readonly call: string;
  readonly secret: string;
  /** The first question that is for the App. */
  readonly question: Question | undefined;
  /** Whether there is nothing to answer, because the call is still running. */
  readonly isRunning: boolean;
  readonly expiresAt: number;
}

interface Question {
  readonly key: string;
  readonly message: string;
  readonly form: FormJson;
}

/** The question that is shown, and what has been filled in. */
interface Shown {
  readonly pause: Pause;
  readonly question: Question;
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: Readonly<Record<string, string>>;
  readonly error?: string | undefined;
}

/** How long the App waits before it asks again how a running call stands. The server takes its time to answer as well. */
const pollMs = 2_000;

const from = document.title;
const root = document.documentElement;
const main = document.querySelector("main") ?? document.body;
let shown: Shown | undefined;
let isBusy = false;
let canUpdateModel = false;

const host = new Host(window, (notification) => void hear(notification));

async function hear(notification: AppNotification): Promise<void> {
  if (notification.method === "ui/notifications/host-context-changed") {
    dress(notification.params);
  } else if (notification.method === "ui/notifications/tool-result") {
    const pause = pauseIn(notification.params);
    if (pause === undefined) return;
    // The conversation may be an old one, whose questions have been answered since.
    const result = await send(pause, {}).catch(() => notification.params);
    const now = pauseIn(result);
    if (now !== undefined) await show(now, result, false);
  }
}

// ---------------------------------------------------------------- what is asked

function pauseIn(result: unknown): Pause | undefined {
  const meta = own(own(result, "_meta"), pauseMeta);
  const call = own(meta, "call");
  const secret = own(meta, "secret");
  if (typeof call !== "string" || typeof secret !== "string") return undefined;
  const questions = Object.entries(own(meta, "questions") ?? {});
  const [question] = questions.flatMap(([key, one]) => {
    const params = own(own(one, "request"), "params");
    const form = own(params, "requestedSchema");
    if (own(one, "way") !== "app" || !isObject(form)) return [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own server has written it
    return [{ key, message: String(own(params, "message")), form: form as unknown as FormJson }];
  });
  const expiresAt = Date.parse(String(own(meta, "expiresAt")));
  return { call, secret, question, isRunning: questions.length === 0, expiresAt };
}

/** Sends answers. Without any, it asks how the call stands. */
function send({ call, secret }: Pause, answered: Record<string, unknown>): Promise<unknown> {
  const params = { name: answerCall, arguments: { call, secret, ...answered } };
  return host.request({ method: "tools/call", params });
}

/** Shows what a result asks, or hands it to the conversation. */
async function show(pause: Pause, result: unknown, isNews: boolean): Promise<void> {
  const { question } = pause;
  if (question !== undefined) {
    // What was filled in stays if the question is asked again.
    const values = shown?.question.key === question.key ? shown.values : defaultsOf(question.form);
    draw({ pause, question, values, errors: {} });
  } else if (pause.isRunning) {
    says("Sent", "The call is still running.");
    setTimeout(() => void poll(pause), pollMs);
  } else if (isNews) {
    await handOver(result);
    says("Sent", "Go back to the chat to go on.");
  }
}

async function poll(pause: Pause): Promise<void> {
  if (Date.now() > pause.expiresAt) return;
  const result = await send(pause, {}).catch(() => undefined);
  if (result === undefined) setTimeout(() => void poll(pause), pollMs);
  else await goOn(result);
}

async function goOn(result: unknown): Promise<void> {
  const pause = pauseIn(result);
  if (pause !== undefined) return show(pause, result, true);
  await handOver(result);
  if (own(result, "isError") === true) {
    says("The call has ended", "Go back to the chat to see what happened.");
  } else {
    says("Done", "Go back to the chat to go on.");
  }
}

/** The model reads it with the next message. If the host cannot pass it on, the model asks with `continue_call`. */
async function handOver(result: unknown): Promise<void> {
  const content = own(result, "content");
  const structured = own(result, "structuredContent");
  if (!canUpdateModel || !Array.isArray(content)) return;
  const params = { content, ...(isObject(structured) && { structuredContent: { ...structured } }) };
  await host.request({ method: "ui/update-model-context", params }).catch(() => {});
}

// ---------------------------------------------------------------- what is shown

function draw(next: Shown): void {
  shown = next;
  const { question, values, errors, error } = next;
  const { message, form } = question;
  const input = { kind: "form", form, values, errors } as const;
  put(h(Ask, { key: question.key, from, message, input, canDecline: true, error }));
}

function says(title: string, text: string): void {
  shown = undefined;
  put(
    h("div", { class: "card", role: "status" }, [
      h("p", { class: "from" }, from),
      h("h1", {}, title),
      h("p", {}, text),
    ]),
  );
}

const put = (content: ComponentChild): void => render(content, main);

function busy(is: boolean): void {
  isBusy = is;
  if (is) main.setAttribute("aria-busy", "true");
  else main.removeAttribute("aria-busy");
}

function dress({ theme }: McpUiHostContext): void {
  if (theme !== undefined) root.classList.toggle("dark", theme === "dark");
}

// ---------------------------------------------------------------- what the person does

main.addEventListener("click", (event) => {
  const { target } = event;
  const place = target instanceof Element ? target.closest("button, a") : null;
  if (place === null) return;
  // In a frame, the address of a place in this document can be that of another document.
  event.preventDefault();
  if (place instanceof HTMLButtonElement) void press(place);
  else document.getElementById(place.getAttribute("href")?.slice(1) ?? "")?.focus();
});

async function press({ form, value }: HTMLButtonElement): Promise<void> {
  if (shown === undefined || form === null || isBusy) return;
  const { pause, question } = shown;
  const { key } = question;
  if (value === buttons.decline) return answer(pause, { decline: [key] });
  const sent = new URLSearchParams();
  for (const [name, text] of new FormData(form)) {
    // A form of ours sends no files.
    if (typeof text === "string") sent.append(name, text);
  }
  const { content, errors } = readForm(question.form, sent);
  draw({ ...shown, values: content, errors });
  if (Object.keys(errors).length > 0) return;
  const isConfirmation = Object.keys(question.form.properties).length === 0;
  // Not with an assignment, because a key may be "__proto__".
  const answers = Object.fromEntries([[key, isConfirmation ? true : content]]);
  await answer(pause, { answers });
}

async function answer(pause: Pause, answered: Record<string, unknown>): Promise<void> {
  busy(true);
  try {
    await goOn(await send(pause, answered));
  } catch {
    if (shown !== undefined) draw({ ...shown, error: "It could not be sent. Please try again." });
  } finally {
    busy(false);
  }
}

// ---------------------------------------------------------------- the beginning

const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
dress({ theme: dark ? "dark" : "light" });
const { hostContext, hostCapabilities } = await host.connect();
canUpdateModel = hostCapabilities.updateModelContext !== undefined;
dress(hostContext);
new ResizeObserver(() => {
  const { width, height } = root.getBoundingClientRect();
  const params = { width: Math.ceil(width), height: Math.ceil(height) };
  host.notify({ method: "ui/notifications/size-changed", params });
}).observe(root);
