import { randomBytes } from "node:crypto";
import { ParleyError } from "../errors.ts";
import type { RandomBytes } from "./aead.ts";
import { TokenTooLarge, type TokenReason } from "./errors.ts";
import { read, write } from "./format.ts";
import type { Keyring } from "./keyring.ts";
import { isFiniteNumber, isText, isTextOrAbsent, members } from "./members.ts";
import { pack, unpack } from "./payload.ts";
import { sameText } from "./same-text.ts";

/** One question of one call, for a URL. Whoever has the URL has the ticket: it names a principal, it does not prove one. */
export interface Ticket {
  /** "url": the page of an `openUrl`. "external": a `waitFor`. */
  readonly kind: "url" | "external";
  readonly callId: string;
  readonly key: string;
  readonly principal: string | undefined;
  readonly audience: string;
  readonly expiresAt: number;
}

// Longer links do not survive mail and proxies.
const maxBytes = 4096;
const format = 1;

/** Safe in a path, a query and a fragment as it is. */
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

/** Throws ParleyError ("bad_ticket"), whose message is fit for a page and whose cause is for the log. */
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
  // Not `now >= expiresAt`: a clock that gives NaN must not make tickets last for ever.
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
  });
  if (decode(text) === undefined) {
    throw new TypeError(
      'sealTicket: this ticket could not be opened again; kind must be "url" or "external", expiresAt a finite number, the rest text',
    );
  }
  return text;
}

function decode(text: string): Ticket | undefined {
  const { f, k, c, q, p, u, x, ...unknown } = members(text);
  if (f !== format || Object.keys(unknown).length > 0) return undefined;
  if (k !== "url" && k !== "external") return undefined;
  if (!isText(c) || !isText(q) || !isTextOrAbsent(p) || !isText(u)) return undefined;
  if (!isFiniteNumber(x)) return undefined;
  return { kind: k, callId: c, key: q, principal: p, audience: u, expiresAt: x };
}

function badTicket(cause: unknown): ParleyError {
  return new ParleyError("bad_ticket", "This link is invalid or has expired.", { cause });
}
