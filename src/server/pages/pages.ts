// The pages of questions. This file and the form components are loaded with the first page, because most servers show none.

import type { Ticket } from "../../token/ticket.ts";
import { errorText } from "../../util/error-text.ts";
import type { Json } from "../../util/json.ts";
import { actions } from "../../ui/ask-form.ts";
import { defaultsOf, readForm } from "../../ui/form-values.ts";
import type { AskInput } from "../../ui/input-form.ts";
import { askPage, messagePage } from "../../ui/page.ts";
import { serveApproval } from "../approvals/approval-page.ts";
import type { Core } from "../core.ts";
import { StoreTrouble } from "../tasks/store-needed.ts";
import type { PageQuestion } from "./page-question.ts";
import { html, safe, sentIn, unkept } from "./page-response.ts";
import { readTicket } from "./ticket-facts.ts";
import { answer, questionOf } from "./tickets.ts";
import type { FoundQuestion } from "./tickets.ts";
import { admit } from "./visitors.ts";
import type { Doorkeeping } from "./visitors.ts";

/** Serves the page of a ticket: GET shows the question and changes nothing, POST takes the answer. */
export async function servePage(
  core: Core,
  door: Doorkeeping,
  request: Request,
  ticketText: string,
): Promise<Response> {
  const site = new Site(core, door);
  try {
    return await site.serve(request, ticketText);
  } catch (error) {
    if (error instanceof StoreTrouble) core.storeFailed(error.cause, { page: "ask" });
    else core.logger.error(`A page could not be served: ${errorText(error)}`);
    return site.says(
      503,
      "Please try again",
      "This page cannot be shown at the moment. Wait a minute, then open the link again.",
    );
  }
}

class Site {
  readonly #core: Core;
  readonly #door: Doorkeeping;

  constructor(core: Core, door: Doorkeeping) {
    this.#core = core;
    this.#door = door;
  }

  async serve(request: Request, ticketText: string): Promise<Response> {
    const { method } = request;
    if (method !== "GET" && method !== "HEAD" && method !== "POST") {
      return new Response(undefined, { status: 405, headers: { allow: "GET, HEAD, POST" } });
    }
    // Both are checked before anything is read from the store: they cost a stranger more than they cost us.
    const ticket = this.#ticket(ticketText);
    if (ticket === undefined) {
      return this.says(
        404,
        "This link does not work",
        "It is incomplete or has expired. Go back to where you found it, and ask for a new one.",
      );
    }
    if (method === "POST" && !this.#isFromHere(request)) {
      return this.says(
        403,
        "Nothing was sent",
        "Your answer came from another site. Open the link of the question, and answer there.",
      );
    }
    if (ticket.kind === "approval") {
      return serveApproval(this.#core, this.#door, request, ticket, ticketText);
    }
    const admitted = await admit(this.#door, ticket, request);
    if (admitted instanceof Response) return unkept(admitted);
    if (admitted === "refused") {
      return this.says(403, "You cannot see this page", "Sign in, then open the link again.");
    }
    if (admitted === "other") {
      return this.says(
        403,
        "This question is for someone else",
        "Sign in as the person who was asked, then open the link again.",
      );
    }
    const found = await questionOf(this.#core, ticket);
    // Signing in answers it, and nothing else.
    if (found.question?.provider !== undefined) {
      return this.says(404, "This link does not work", "It is invalid or has expired.");
    }
    const who = admitted.visitor?.principal;
    if (method === "POST") return this.#take(request, ticketText, ticket, found, who);
    if (new URL(request.url).searchParams.has("saved") && found.status !== "open") {
      return this.says(200, "Saved", whatNext(ticket));
    }
    return found.status === "open" ? this.#show(ticket, found) : this.#over(ticket, found);
  }

  /** A page without a form. */
  says(status: number, title: string, text: string): Response {
    return html(status, messagePage(this.#core.name, title, text));
  }

  #ticket(text: string): Ticket | undefined {
    try {
      const ticket = readTicket(this.#core, text);
      // A ticket of `openUrl` without a schema is for the author's own page.
      return ticket.kind === "url" && ticket.digest === undefined ? undefined : ticket;
    } catch {
      return undefined;
    }
  }

  /** Browsers send an `Origin` with every POST of a form. Without one, or with "null", it may come from anywhere. */
  #isFromHere(request: Request): boolean {
    return request.headers.get("origin") === this.#core.publicUrl()?.origin;
  }

  #over({ kind }: Ticket, { status }: Pick<FoundQuestion, "status">): Response {
    if (status === "not_yet") {
      const page = this.says(
        200,
        "One moment",
        "The question is not ready yet. This page reloads by itself.",
      );
      page.headers.set("refresh", "2");
      return page;
    }
    if (status === "answered") {
      return this.says(
        200,
        "Already answered",
        "The first answer counts. You can close this page.",
      );
    }
    const next =
      kind === "url"
        ? "Go back to the chat, and ask again if you still need it."
        : "You can close this page.";
    return this.says(410, "Too late", `This question is no longer open. ${next}`);
  }

  #show(
    ticket: Ticket,
    { question = noQuestion }: FoundQuestion,
    filled?: Partial<AskInput>,
    error?: string,
  ): Response {
    const { message, form, schema, about, isSecret } = question;
    const input: AskInput =
      form === undefined
        ? { schema, text: "", error: undefined, ...filled, kind: "json" }
        : {
            form,
            questionKey: ticket.key,
            values: defaultsOf(form),
            errors: {},
            ...filled,
            kind: "form",
          };
    const isOpen = this.#door.authorize === undefined;
    const page = askPage({
      from: this.#core.name,
      message,
      about,
      input,
      isSecret,
      canDecline: ticket.kind === "url" && question.schema === undefined,
      error,
      note: isOpen ? "Anyone who has this link can answer. Do not pass it on." : undefined,
    });
    return html(filled === undefined ? 200 : 422, page);
  }

  async #take(
    request: Request,
    text: string,
    ticket: Ticket,
    found: FoundQuestion,
    who: string | undefined,
  ): Promise<Response> {
    const { question = noQuestion } = found;
    if (found.status !== "open") return this.#over(ticket, found);
    const sent = await sentIn(request);
    if (sent === undefined) {
      return this.says(
        413,
        "Nothing was sent",
        "Your answer is too long, or did not come from the form. Go back, shorten it and send it again.",
      );
    }
    const read = sent.get("action") === actions.decline ? declined : readAnswer(question, sent);
    if (read.kind === "wrong") return this.#show(ticket, found, read.filled);
    const isElicited = ticket.kind === "url";
    if (read.kind === "declined" && !isElicited) return this.#show(ticket, found);
    const raw: Json =
      read.kind === "declined"
        ? { action: "decline" }
        : isElicited
          ? { action: "accept", content: read.value }
          : read.value;
    const outcome = await answer(
      this.#core,
      ticket,
      found,
      raw,
      // A question to the caller comes by the way that it took. Everyone else was sent a link.
      { via: isElicited ? undefined : "link", who },
      read.kind === "value" ? read.value : undefined,
    );
    const { logger } = this.#core;
    const { callId: call, key } = ticket;
    logger.info(`The page of "${key}": ${outcome.status}`, { call, key, outcome: outcome.status });
    if (outcome.status === "invalid") {
      const filled = read.kind === "value" ? read.filled : {};
      const error = `Nothing has been sent yet. Please correct this: ${outcome.reason}`;
      return this.#show(ticket, found, filled, error);
    }
    if (outcome.status !== "delivered") {
      return this.#over(ticket, { status: outcome.status === "gone" ? "gone" : "answered" });
    }
    // To the public address, never to where the Host header points. A reload then sends nothing again.
    const base = this.#core.publicUrl()?.href.replace(/\/$/, "") ?? "";
    const location = `${base}/ask/${text}?saved`;
    return new Response(undefined, { status: 303, headers: { ...safe, location } });
  }
}

const noQuestion: PageQuestion = { message: "Please answer" };

const whatNext = ({ kind }: Ticket): string =>
  kind === "url"
    ? "Go back to the chat and say that you are done."
    : "Thank you. You can close this page.";

// ---------------------------------------------------------------- what was sent

type ReadAnswer =
  | { readonly kind: "value"; readonly value: Json; readonly filled: Partial<AskInput> }
  | { readonly kind: "wrong"; readonly filled: Partial<AskInput> }
  | { readonly kind: "declined" };

const declined: ReadAnswer = { kind: "declined" };

function readAnswer({ form, field }: PageQuestion, sent: URLSearchParams): ReadAnswer {
  if (form === undefined) return readJson(sent.get("json") ?? "");
  const { content, errors } = readForm(form, sent);
  if (Object.keys(errors).length > 0) return { kind: "wrong", filled: { values: content, errors } };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts, numbers, booleans and lists of texts
  const value = (field === undefined ? content : content[field]) as Json;
  return { kind: "value", value: value ?? null, filled: { values: content } };
}

function readJson(text: string): ReadAnswer {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse gives is JSON
    return { kind: "value", value: JSON.parse(text) as Json, filled: { text } };
  } catch {
    const error = 'This is not valid JSON. Put text in quotation marks, such as "yes".';
    return { kind: "wrong", filled: { text, error } };
  }
}
