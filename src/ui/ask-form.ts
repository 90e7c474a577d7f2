// A question as people see it: who asks, what is asked, what they should know, and the form.

import { h } from "preact";
import type { ComponentChild } from "preact";
import type { FormJson } from "../protocol/form.ts";
import { FormFields, JsonField, labelOf } from "./form-fields.ts";

/** A question, and what has been filled in so far. */
export interface AskProps {
  /** The name of the server. */
  readonly from: string;
  readonly message: string;
  /** What is shown beside the question. */
  readonly about?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly input: AskInput;
  /** Hides what is typed. */
  readonly isSecret?: boolean | undefined;
  /** Whether there is a button to decline. */
  readonly canDecline?: boolean | undefined;
  /** What is wrong with the answer as a whole. */
  readonly error?: string | undefined;
}

/** A form of fields, or one field for JSON. */
export type AskInput =
  | {
      readonly kind: "form";
      readonly form: FormJson;
      readonly values: Readonly<Record<string, unknown>>;
      readonly errors: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: "json";
      readonly schema: unknown;
      readonly text: string;
      readonly error: string | undefined;
    };

/** The names of the two buttons, as the browser sends them. */
export const buttons = { accept: "accept", decline: "decline" } as const;

/** The question and its form. */
export function Ask(props: AskProps): ComponentChild {
  const { from, message, about = {}, input, canDecline = false } = props;
  const told = Object.entries(about);
  const isBare = input.kind === "form" && Object.keys(input.form.properties).length === 0;
  return h(
    "div",
    { class: "card" },
    h("p", { class: "from" }, `${from} asks`),
    h("h1", {}, message),
    told.length === 0
      ? undefined
      : h(
          "dl",
          {},
          told.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, aboutText(value))]),
        ),
    h(
      "form",
      { method: "post", autocomplete: "off" },
      h(Errors, props),
      input.kind === "form"
        ? h(FormFields, { ...input, isSecret: props.isSecret })
        : h(JsonField, input),
      h(
        "div",
        { class: "actions" },
        h(
          "button",
          { class: "main", type: "submit", name: "action", value: buttons.accept },
          isBare ? "Yes" : "Send",
        ),
        canDecline
          ? h(
              "button",
              { type: "submit", name: "action", value: buttons.decline, formnovalidate: true },
              isBare ? "No" : "Decline",
            )
          : undefined,
      ),
    ),
  );
}

/** The errors once more, above the form, where a screen reader begins. */
function Errors({ input, error }: AskProps): ComponentChild {
  const wrong =
    input.kind === "form"
      ? Object.entries(input.form.properties).flatMap(([name, field], index) => {
          const of = Object.hasOwn(input.errors, name) ? input.errors[name] : undefined;
          return of === undefined
            ? []
            : [{ id: `f${index}`, text: `${labelOf(name, field)}: ${of}` }];
        })
      : input.error === undefined
        ? []
        : [{ id: "json", text: input.error }];
  if (wrong.length === 0 && error === undefined) return undefined;
  return h(
    "div",
    { class: "errors", role: "alert" },
    h("strong", {}, error ?? "Nothing was sent yet."),
    wrong.length === 0
      ? undefined
      : h(
          "ul",
          {},
          wrong.map(({ id, text }) => h("li", { key: id }, h("a", { href: `#${id}` }, text))),
        ),
  );
}

function aboutText(value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return String(value);
}
