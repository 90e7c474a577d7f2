// Who is at a page. The specification requires that the person who opens an address is the one who was asked.

import { ParleyError } from "../../errors.ts";
import type { Ticket } from "../../token/ticket.ts";

/** Options of the pages. */
export interface PagesOptions {
  /**
   * Says who visits a page, for example by a session cookie. A `Response` sends the visitor elsewhere, to sign in. Undefined
   * refuses.
   */
  readonly authorize: (
    request: Request,
  ) => Visitor | Response | undefined | Promise<Visitor | Response | undefined>;
}

/** A person who visits a page. */
export interface Visitor {
  /** The same text that `parley({ principal })` gives for this person's calls. */
  readonly principal: string;
  /** The groups that the person belongs to. Default: none. */
  readonly groups?: readonly string[] | undefined;
  /** What others are shown. Default: the principal. */
  readonly name?: string | undefined;
}

/** How an app knows its visitors. */
export interface Doorkeeping {
  readonly hasAuth: boolean;
  readonly isDevelopment: boolean;
  readonly authorize: PagesOptions["authorize"] | undefined;
  /** Whether the app is served over stdio, so that a call without a principal is of the person who started it. */
  isStdio?: boolean | undefined;
}

/** Throws if strangers could answer for callers who are known. */
export function checkDoor({ hasAuth, isDevelopment, authorize }: Doorkeeping): void {
  if (!hasAuth || isDevelopment || authorize !== undefined) return;
  throw new ParleyError(
    "bad_option",
    "This app has auth and serves pages, but cannot tell who visits them. Pass parley({ pages: { authorize } }).",
  );
}

/** Who visits. A `Response` sends the visitor elsewhere. Undefined if the app cannot tell, or refuses. */
export async function visitorAt(
  { authorize }: Doorkeeping,
  request: Request,
): Promise<Visitor | Response | undefined> {
  const visitor = await authorize?.(request);
  if (visitor === undefined || visitor instanceof Response) return visitor;
  return checkedVisitor(visitor);
}

/** For JavaScript authors: a slip must not open anything. A text would have every part of it as a group. */
function checkedVisitor(visitor: Visitor): Visitor {
  const { principal, groups = [] }: Visitor = Object(visitor);
  if (typeof principal === "string" && principal !== "" && Array.isArray(groups)) return visitor;
  throw new TypeError(
    "parley({ pages }): authorize must return { principal, groups: […] }, a Response, or undefined.",
  );
}

/** Lets the visitor in, refuses, or sends the visitor elsewhere. */
export async function admit(
  door: Doorkeeping,
  ticket: Ticket,
  request: Request,
): Promise<Admitted | "refused" | "other" | Response> {
  const { authorize, hasAuth, isDevelopment } = door;
  if (authorize === undefined) return hasAuth && !isDevelopment ? "refused" : anyone;
  const visitor = await visitorAt(door, request);
  if (visitor === undefined || visitor instanceof Response) return visitor ?? "refused";
  // A question of `ctx.waitFor` is for anyone whom the app lets in. Every other is for the caller.
  const isForCaller = ticket.kind === "url";
  return isForCaller && visitor.principal !== ticket.principal ? "other" : { visitor };
}

/** Someone who may see a page. The visitor is undefined if the app does not ask who it is. */
export interface Admitted {
  readonly visitor: Visitor | undefined;
}

const anyone: Admitted = { visitor: undefined };
