// An approval as people see it: what it is about, who has decided, and the form of those who have not.

import { h } from "preact";
import type { ComponentChild } from "preact";
import { actions } from "./ask-form.ts";
import { Actions, Button } from "./buttons.ts";
import { AboutList, Card } from "./card.ts";
import { page } from "./page.ts";

interface ShownDecision {
  readonly who: string;
  readonly isApproved: boolean;
  readonly at: Date;
  readonly note?: string | undefined;
}

/** What the page of an approval shows. */
export interface ApprovalProps {
  /** The name of the server. */
  readonly from: string;
  readonly message: string;
  readonly about?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly decisions: readonly ShownDecision[];
  /** How many people must agree. Undefined once it is decided. */
  readonly needs?: number | undefined;
  /** Undefined for someone who has decided. */
  readonly form?: { readonly digest: string; readonly mostNote: number } | undefined;
  readonly error?: string | undefined;
}

/** A page with an approval. */
export function approvalPage(props: ApprovalProps): string {
  return page(`${props.from} asks for approval`, [h(ApprovalCard, props)]);
}

function ApprovalCard(props: ApprovalProps): ComponentChild {
  const { from, message, about, decisions, needs, form, error } = props;
  const people = needs === 1 ? "person has" : "people have";
  return h(
    Card,
    { from: [h("bdi", {}, from), " asks for approval"], title: message },
    h(AboutList, { about }),
    needs === undefined
      ? undefined
      : h("p", {}, `${decisions.length} of ${needs} ${people} approved.`),
    decisions.length === 0 ? undefined : h("ul", {}, decisions.map(decisionItem)),
    form === undefined
      ? needs === undefined
        ? undefined
        : h("p", {}, "Your decision is saved. You can close this page.")
      : h(DecideForm, { ...form, error }),
  );
}

const decisionItem = ({ who, isApproved, at, note }: ShownDecision): ComponentChild =>
  h(
    "li",
    { key: who },
    h("bdi", {}, who),
    ` ${isApproved ? "approved" : "declined"} this on ${timeText(at)}.`,
    note === undefined ? undefined : [" ", h("q", { dir: "auto" }, note)],
  );

function DecideForm(props: {
  readonly digest: string;
  readonly mostNote: number;
  readonly error: string | undefined;
}): ComponentChild {
  const { digest, mostNote, error } = props;
  return h(
    "form",
    { method: "post", autocomplete: "off" },
    error === undefined
      ? undefined
      : h("div", { class: "errors", role: "alert" }, h("strong", {}, error)),
    h("input", { type: "hidden", name: "digest", value: digest }),
    h("label", { for: "note" }, "Note (optional)"),
    h("textarea", { id: "note", name: "note", rows: 2, maxlength: mostNote }),
    h(
      Actions,
      {},
      h(Button, { kind: "main", value: actions.accept }, "Approve"),
      h(Button, { value: actions.decline }, "Decline"),
    ),
  );
}

const timeText = (at: Date): string => `${at.toISOString().slice(0, 16).replace("T", " at ")} UTC`;
