// The console's server, as the page sees it: requests, and whether it and its store can be reached.

import { signal } from "@preact/signals";
import { sessionHeader } from "../wire.ts";
import type { Failure, LinkExchange, NewSession } from "../wire.ts";

/** A request that did not succeed. The message is for people. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** What stands between the page and fresh data. */
export type Trouble =
  | { readonly kind: "store"; readonly since: number }
  | { readonly kind: "server"; readonly since: number }
  | { readonly kind: "signed_out"; readonly message: string };

export const trouble = signal<Trouble | undefined>(undefined);

/** Notes whether the server and the store answer, and since when they do not. The earliest time that is known stays. */
export function note(kind: "store" | "server" | undefined, since: number = Date.now()): void {
  const known = trouble.peek();
  if (known?.kind === "signed_out") return;
  if (known?.kind === kind && (known === undefined || known.since <= since)) return;
  trouble.value = kind && { kind, since };
}

/** How far the server's clock is ahead of this one. Ages are counted by the server's. */
export const clockAhead = signal(0);

const storedAs = "parley-console-session";
let session = sessionStorage.getItem(storedAs) ?? undefined;

/** In development the address has a link that works once. The session it opens is kept for this tab. */
export async function openLink(): Promise<void> {
  const link = new URLSearchParams(location.hash.slice(1)).get("link");
  if (link === null) return;
  // The link must not stay in the history.
  history.replaceState(null, "", "#/");
  dispatchEvent(new HashChangeEvent("hashchange"));
  try {
    const exchange: LinkExchange = { link };
    session = (await post<NewSession>("api/session", exchange)).session;
    sessionStorage.setItem(storedAs, session);
  } catch (error) {
    // A page that is loaded again still has its session.
    if (session === undefined) throw error;
  }
}

export const read = <T>(address: string, until?: AbortSignal): Promise<T> =>
  request<T>(address, until === undefined ? {} : { signal: until });

export const post = <T>(address: string, body: object): Promise<T> =>
  request<T>(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Opens the stream of changes. */
export async function openLive(): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const response = await send("api/live", {});
  if (response.body === null) throw new Error("The response has no body.");
  return response.body;
}

async function request<T>(address: string, init: RequestInit): Promise<T> {
  const response = await send(address, init);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts says what the server sends
  return (await response.json()) as T;
}

async function send(address: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (session !== undefined) headers.set(sessionHeader, session);
  let response: Response;
  try {
    response = await fetch(address, { ...init, headers });
  } catch (error) {
    if (init.signal?.aborted === true) throw error;
    note("server");
    const text = "The server cannot be reached. The page tries again by itself.";
    throw new Refusal(0, "unreachable", text);
  }
  const date = Date.parse(response.headers.get("date") ?? "");
  // The header has whole seconds, so a small difference means nothing.
  if (Math.abs(date - Date.now()) > 5000) clockAhead.value = date - Date.now();
  if (response.ok) {
    note(undefined);
    return response;
  }
  throw await refusalOf(response);
}

async function refusalOf(response: Response): Promise<Refusal> {
  const { status } = response;
  const failure: Partial<Failure> = await response.json().catch(() => ({}));
  const {
    code = "unknown",
    message = `The server responded with status ${status}.`,
    since,
  } = failure.error ?? {};
  if (code === "store_down") note("store", since);
  if (status === 401) trouble.value = { kind: "signed_out", message };
  return new Refusal(status, code, message);
}
