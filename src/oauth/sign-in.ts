// The two addresses of a provider. `/oauth/<name>/start/<ticket>` sends the person who was asked to the provider, and
// `/oauth/<name>/callback` takes the same person back. Both check who visits. Loaded with the first visit.

import { errorText } from "../util/error-text.ts";
import type { Core } from "../server/core.ts";
import { html, safe, unkept } from "../server/pages/page-response.ts";
import { readTicket } from "../server/pages/ticket-facts.ts";
import { answer, questionOf } from "../server/pages/tickets.ts";
import type { FoundQuestion } from "../server/pages/tickets.ts";
import { admit } from "../server/pages/visitors.ts";
import type { Doorkeeping } from "../server/pages/visitors.ts";
import { StoreTrouble } from "../server/tasks/store-needed.ts";
import { sameText } from "../token/exact-text.ts";
import { nonce } from "../token/random.ts";
import { textHash } from "../token/text-hash.ts";
import type { Ticket } from "../token/ticket.ts";
import { messagePage } from "../ui/page.ts";
import type { Json } from "../util/json.ts";
import type { AccountTokens } from "./account-tokens.ts";
import { attemptMs, attemptOf, keepAttempt, useUp } from "./attempts.ts";
import type { Attempt } from "./attempts.ts";
import type { GrantedTokens, OAuthProvider } from "./provider.ts";
import { ProviderError } from "./provider-error.ts";
import { callbackAddress, startAddress } from "./sign-in-address.ts";

/** What the pages of one provider need. */
export interface SignInSite {
  readonly core: Core;
  readonly door: Doorkeeping;
  readonly tokens: AccountTokens;
  readonly provider: OAuthProvider;
}

/** Serves the start link of a ticket, or the callback if there is none. */
export async function serveSignIn(
  site: SignInSite,
  request: Request,
  ticketText: string | undefined,
): Promise<Response> {
  const { core, provider } = site;
  const pages = new SignInPages(site);
  try {
    if (request.method !== "GET") {
      return new Response(undefined, { status: 405, headers: { allow: "GET" } });
    }
    return await (ticketText === undefined
      ? pages.callback(request)
      : pages.start(request, ticketText));
  } catch (error) {
    if (error instanceof StoreTrouble) core.storeFailed(error.cause, { page: "oauth" });
    else core.logger.error(`Signing in at "${provider.name}" failed: ${errorText(error)}`);
    return pages.says(503, "Please try again", "This page cannot be shown at the moment.");
  }
}

class SignInPages {
  readonly #site: SignInSite;

  constructor(site: SignInSite) {
    this.#site = site;
  }

  /** A page that says one thing, with a link to start again. */
  says(status: number, title: string, text: string, again?: string): Response {
    const { core } = this.#site;
    const link = again === undefined ? undefined : { href: again, text: "Try again" };
    return html(status, messagePage(core.name, title, text, link));
  }

  // ---------------------------------------------------------------- the start link

  async start(request: Request, ticketText: string): Promise<Response> {
    const { core, provider, tokens } = this.#site;
    const ticket = this.#ticket(ticketText);
    if (ticket === undefined) return this.#unknown();
    const refused = await this.#refused(request, ticket);
    if (refused !== undefined) return refused;
    const found = await questionOf(core, ticket);
    if (found.question !== undefined && found.question.provider !== provider.name) {
      return this.#unknown();
    }
    // Another tab or another call may have connected the account already.
    const isConnected = await tokens.isConnected(ticket.principal, provider);
    if (isConnected && found.status === "open") await this.#answer(ticket, found, connected);
    if (found.status === "not_yet") return this.#notYet();
    if (isConnected) return this.#connected(found);
    if (found.status !== "open") return this.#over(found);
    return this.#begin(request, ticketText, ticket);
  }

  async #begin(request: Request, ticketText: string, ticket: Ticket): Promise<Response> {
    const { core, provider, tokens } = this.#site;
    const cookie = this.#cookie(request) ?? nonce();
    const attempt: Attempt = {
      state: nonce(),
      verifier: nonce(),
      redirectUri: callbackAddress(core, provider),
      provider: provider.name,
      ticket: ticketText,
      browser: textHash(cookie),
    };
    let location: string;
    try {
      location = await provider.signInAt(attempt, AbortSignal.timeout(tokens.patienceMs));
    } catch (error) {
      return this.#failed(error, ticketText);
    }
    await keepAttempt(core, attempt, ticket.principal);
    const headers = new Headers(safe);
    headers.set("location", location);
    headers.set("referrer-policy", "no-referrer");
    headers.append("set-cookie", this.#setCookie(cookie));
    return new Response(undefined, { status: 303, headers });
  }

  // ---------------------------------------------------------------- the callback

  async callback(request: Request): Promise<Response> {
    const { core, provider } = this.#site;
    const sent = new URL(request.url).searchParams;
    const [state = "", ...more] = sent.getAll("state");
    const attempt = state === "" || more.length > 0 ? undefined : await attemptOf(core, state);
    // An attempt belongs to one provider and one browser, so that nobody can be sent here with what another one began.
    const cookie = this.#cookie(request);
    const isOwn =
      attempt !== undefined &&
      attempt.provider === provider.name &&
      cookie !== undefined &&
      sameText(attempt.browser, textHash(cookie));
    const ticket = isOwn ? this.#ticket(attempt.ticket) : undefined;
    if (!isOwn || ticket === undefined) {
      return this.says(
        400,
        "Not connected",
        "This browser did not begin this sign-in, or it took too long. Open the link in the chat again.",
      );
    }
    const refused = await this.#refused(request, ticket);
    if (refused !== undefined) return refused;
    const found = await questionOf(core, ticket);
    if (!(await useUp(core, attempt))) return this.#again(attempt, ticket);
    if (found.status === "answered" || found.status === "gone") {
      // Another tab was faster, or the call is over. The link says which.
      return this.#redirect(startAddress(core, provider, attempt.ticket));
    }
    return this.#finish(sent, attempt, ticket, found);
  }

  async #finish(
    sent: URLSearchParams,
    attempt: Attempt,
    ticket: Ticket,
    found: FoundQuestion,
  ): Promise<Response> {
    const { core, provider, tokens } = this.#site;
    let granted: GrantedTokens;
    try {
      granted = await provider.finish(sent, attempt, AbortSignal.timeout(tokens.patienceMs));
    } catch (error) {
      return this.#notGranted(error, attempt, ticket, found);
    }
    await tokens.keep(ticket.principal, provider, granted);
    await core.audit({
      action: "connected",
      callId: ticket.callId,
      principal: ticket.principal,
      key: ticket.key,
      digest: ticket.digest,
      note: provider.name,
      occasion: attempt.browser,
    });
    await this.#answer(ticket, found, connected);
    core.logger.info(`An account at "${provider.name}" was connected`, {
      call: ticket.callId,
      key: ticket.key,
      provider: provider.name,
    });
    // Away from an address that has a code in it.
    return this.#redirect(startAddress(core, provider, attempt.ticket));
  }

  /** The provider sent no tokens. What cannot get better ends the question; otherwise it stays open for another attempt. */
  async #notGranted(
    error: unknown,
    { ticket: ticketText }: Attempt,
    ticket: Ticket,
    found: FoundQuestion,
  ): Promise<Response> {
    const { provider } = this.#site;
    if (!(error instanceof ProviderError)) throw error;
    const { code, isTemporary } = error;
    if (code === "access_denied") {
      await this.#answer(ticket, found, { action: "decline" });
      return this.says(
        200,
        "Not connected",
        `You did not allow it. Nothing of your account at ${provider.title} was read. Go back to the chat.`,
      );
    }
    // A code that does not fit was not meant for this attempt, and says nothing about the next one.
    const isForHandler = code !== undefined && !isTemporary && code !== "invalid_grant";
    if (isForHandler) {
      await this.#answer(ticket, found, { action: "accept", content: { error: code } });
    }
    return this.#failed(error, isForHandler ? undefined : ticketText);
  }

  // ---------------------------------------------------------------- who visits

  /** The ticket of a question. Undefined if it is not one. */
  #ticket(text: string): Ticket | undefined {
    try {
      const ticket = readTicket(this.#site.core, text);
      return ticket.kind === "url" && ticket.digest !== undefined ? ticket : undefined;
    } catch {
      return undefined;
    }
  }

  async #refused(request: Request, ticket: Ticket): Promise<Response | undefined> {
    const admitted = await admit(this.#site.door, ticket, request);
    if (admitted instanceof Response) return unkept(admitted);
    if (admitted === "refused") {
      return this.says(403, "You may not see this page", "Sign in, and open the link again.");
    }
    if (admitted === "other") {
      return this.says(
        403,
        "This question is for someone else",
        "Sign in as the person who was asked, and open the link again.",
      );
    }
    return undefined;
  }

  /** Browsers take a `__Host-` cookie over https only, and from no other host. */
  get #cookieName(): string {
    const isSecure = this.#site.core.publicUrl()?.protocol === "https:";
    return isSecure ? "__Host-parley-oauth" : "parley-oauth";
  }

  #cookie(request: Request): string | undefined {
    const found = (request.headers.get("cookie") ?? "")
      .split(";")
      .map((one) => one.trim().split("="))
      .find(([name]) => name === this.#cookieName)?.[1];
    return found !== undefined && /^[\w-]{43}$/.test(found) ? found : undefined;
  }

  /** The same for all attempts of a browser, so that one tab does not end what another one began. */
  #setCookie(value: string): string {
    const name = this.#cookieName;
    const secure = name.startsWith("__Host-") ? "; Secure" : "";
    return `${name}=${value}; Path=/; Max-Age=${attemptMs / 1000}; HttpOnly; SameSite=Lax${secure}`;
  }

  // ---------------------------------------------------------------- what is said

  async #answer(ticket: Ticket, found: FoundQuestion, raw: Json): Promise<void> {
    await answer(this.#site.core, ticket, found, raw, {});
  }

  #unknown(): Response {
    return this.says(404, "This link does not work", "It is invalid or has expired.");
  }

  #notYet(): Response {
    const page = this.says(
      200,
      "One moment",
      "This page is not ready yet. It loads again by itself.",
    );
    page.headers.set("refresh", "2");
    return page;
  }

  #connected({ status }: FoundQuestion): Response {
    const next =
      status === "gone"
        ? "The call that asked for it is over. The next one finds it."
        : "Go back to the chat and say that you are done.";
    return this.says(
      200,
      "Connected",
      `Your account at ${this.#site.provider.title} is connected. ${next}`,
    );
  }

  #over({ status }: FoundQuestion): Response {
    return status === "answered"
      ? this.says(200, "Already answered", "This question has an answer. Nothing more is needed.")
      : this.says(410, "Too late", "This question is no longer asked.");
  }

  /** The browser has sent the same callback before: someone reloads the page, or its response was lost. */
  async #again({ ticket: ticketText }: Attempt, ticket: Ticket): Promise<Response> {
    const { core, provider, tokens } = this.#site;
    const start = startAddress(core, provider, ticketText);
    if (await tokens.isConnected(ticket.principal, provider)) return this.#redirect(start);
    const text = "This sign-in has been used already. If it did not end, you can try again.";
    return this.says(400, "Not connected", text, start);
  }

  #redirect(location: string): Response {
    return new Response(undefined, { status: 303, headers: { ...safe, location } });
  }

  #failed(error: unknown, ticketText: string | undefined): Response {
    const { core, provider } = this.#site;
    if (!(error instanceof ProviderError)) throw error;
    core.logger.warn(`Signing in at "${provider.name}" failed: ${error.message}`, {
      provider: provider.name,
    });
    const again = ticketText === undefined ? undefined : startAddress(core, provider, ticketText);
    const what = error.code === undefined ? "" : ` It says: ${error.code}.`;
    return this.says(
      502,
      "Not connected",
      `${provider.title} did not connect your account.${what} ${again === undefined ? "Go back to the chat." : "You can try again."}`,
      again,
    );
  }
}

const connected: Json = { action: "accept" };
