// Tickets: sealed references to one question of one call, short enough for a URL.

import { randomBytes } from "node:crypto";
import { ParleyError } from "../errors.ts";
import { TokenTooLarge, type TokenReason } from "./errors.ts";
import { read, write } from "./format.ts";
import type { Keyring } from "./keyring.ts";
import { isFiniteNumber, isText, isTextOrAbsent, members } from "./members.ts";
import { pack, unpack } from "./payload.ts";
import { sameText } from "./exact-text.ts";
import type { RandomBytes } from "./random.ts";

/**
 * One question of one call. Anyone who has the URL has the ticket, so it names a principal but does not prove that this
 * person uses it.
 */
export interface Ticket {
  /** "url" for the page of an `openUrl`, "external" for a `waitFor`, "approval" for a group's `approve`. */
  readonly kind: "url" | "external" | "approval";
  readonly callId: string;
  /** Of the question. */
  readonly key: string;
  /** The caller. Undefined on a server without authorization. */
  readonly principal: string | undefined;
  /** The server that the ticket is for. */
  readonly audience: string;
  /** When the ticket expires, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** Of a page that brings the answer: the digest of the question. */
  readonly digest?: string | undefined;
  /** Of a page that brings the answer: how many times the question has been asked. */
  readonly asked?: number | undefined;
}

// Mail programs and proxies cut longer links.
const maxBytes = 4096;
const format = 1;

/** Seals a ticket. The text can be part of a path, a query or a fragment without encoding. */
export function sealTicket(
  ticket: Ticket,
  keyring: Keyring,
  options: { readonly randomBytes?: RandomBytes | undefined } = {},
): string {
  const plain = encode(ticket);
  const text = write("t1", pack(plain, false), keyring, options.randomBytes ?? randomBytes);
  if (text.length > maxBytes) throw new TokenTooLarge(text.length, maxBytes);
  return text;
}

/** Opens a ticket. Throws ParleyError ("bad_ticket"); its message may be shown on a page, its cause belongs in the log. */
export function openTicket(
  text: unknown,
  keyring: Keyring,
  expected: { readonly audience: string; readonly now: number },
): Ticket {
  let outcome: Ticket | TokenReason;
  try {
    outcome = attempt(text, keyring, expected);
  } catch (cause) {
    throw badTicket(cause);
  }
  if (typeof outcome === "string") throw badTicket(outcome);
  return outcome;
}

function attempt(
  text: unknown,
  keyring: Keyring,
  expected: { readonly audience: string; readonly now: number },
): Ticket | TokenReason {
  if (typeof text !== "string") return "not_text";
  if (text.length > maxBytes) return "too_long";
  const reading = read("t1", text, keyring);
  if (reading.kind === "refused") return reading.reason;
  const plain = unpack(reading.payload, maxBytes);
  const ticket = plain === undefined ? undefined : decode(plain);
  if (ticket === undefined) return "malformed";
  if (!sameText(ticket.audience, expected.audience)) return "audience";
  // With `now >= expiresAt`, a clock that returns NaN would make tickets last forever.
  if (!(expected.now < ticket.expiresAt)) return "expired";
  return ticket;
}

function encode(ticket: Ticket): string {
  const text = JSON.stringify({
    f: format,
    k: ticket.kind,
    c: ticket.callId,
    q: ticket.key,
    p: ticket.principal,
    u: ticket.audience,
    x: ticket.expiresAt,
    d: ticket.digest,
    n: ticket.asked,
  });
  if (decode(text) === undefined) {
    throw new TypeError(
      'sealTicket: this ticket could not be opened again. kind must be "url", "external" or "approval", expiresAt and asked finite numbers, and everything else a string.',
    );
  }
  return text;
}

function decode(text: string): Ticket | undefined {
  const { f, k, c, q, p, u, x, d, n, ...unknown } = members(text);
  if (f !== format || Object.keys(unknown).length > 0) return undefined;
  if (k !== "url" && k !== "external" && k !== "approval") return undefined;
  if (!isText(c) || !isText(q) || !isTextOrAbsent(p) || !isText(u)) return undefined;
  if (!isFiniteNumber(x) || !isTextOrAbsent(d)) return undefined;
  if (n !== undefined && !isFiniteNumber(n)) return undefined;
  const ticket = { kind: k, callId: c, key: q, principal: p, audience: u, expiresAt: x } as const;
  return d === undefined ? ticket : { ...ticket, digest: d, asked: n };
}

function badTicket(cause: unknown): ParleyError {
  return new ParleyError("bad_ticket", "This link is invalid or has expired.", { cause });
}
