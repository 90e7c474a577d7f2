// A form with what has been filled in and what is wrong with it. The caller adds the buttons.

import { h } from "preact";
import type { ComponentChild, ComponentChildren } from "preact";
import type { FormJson } from "../protocol/form.ts";
import { fieldId, FormFields, JsonField, labelOf } from "./form-fields.ts";

/** A form of fields, or one field for JSON. */
export type AskInput =
  | {
      readonly kind: "form";
      readonly form: FormJson;
      /** The key of the question, if there is one. A field of that name is the whole answer. */
      readonly questionKey?: string | undefined;
      /** What each field contains now. */
      readonly values: Readonly<Record<string, unknown>>;
      /** What is wrong with it, by field. */
      readonly errors: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: "json";
      readonly schema: unknown;
      readonly text: string;
      readonly error: string | undefined;
    };

/** A form without its buttons. */
export interface InputFormProps {
  readonly input: AskInput;
  /** What is wrong with the answer as a whole. */
  readonly error?: string | undefined;
  /** Hides what is typed. */
  readonly isSecret?: boolean | undefined;
  /** Begins the id of every field, if the document has several forms. */
  readonly idPrefix?: string | undefined;
  /** The buttons. */
  readonly children?: ComponentChildren;
}

/** Sends itself with POST to the address of its page. */
export function InputForm(props: InputFormProps): ComponentChild {
  const { input, isSecret, idPrefix = "", children } = props;
  return h(
    "form",
    { method: "post", autocomplete: "off" },
    h(ErrorSummary, props),
    input.kind === "form"
      ? h(FormFields, { ...input, isSecret, idPrefix })
      : h(JsonField, { ...input, idPrefix }),
    children,
  );
}

/** Whether the form has no fields, so that its buttons are the whole answer. */
export const isBare = (input: AskInput): boolean =>
  input.kind === "form" && Object.keys(input.form.properties).length === 0;

/** The errors once more, above the form, where a screen reader begins. */
function ErrorSummary({ input, error, idPrefix = "" }: InputFormProps): ComponentChild {
  const wrong = wrongFields(input, idPrefix);
  if (wrong.length === 0 && error === undefined) return undefined;
  return h(
    "div",
    { class: "errors", role: "alert" },
    h("p", {}, h("strong", {}, error ?? "Nothing has been sent yet. Please correct this:")),
    wrong.length === 0
      ? undefined
      : h(
          "ul",
          {},
          wrong.map(({ id, text }) => h("li", { key: id }, h("a", { href: `#${id}` }, text))),
        ),
  );
}

/** What is wrong, with the id of the field that it is about. */
function wrongFields(
  input: AskInput,
  idPrefix: string,
): readonly { readonly id: string; readonly text: ComponentChildren }[] {
  if (input.kind === "json") {
    return input.error === undefined ? [] : [{ id: `${idPrefix}json`, text: input.error }];
  }
  const { form, errors, questionKey } = input;
  return Object.keys(form.properties).flatMap((name, index) =>
    Object.hasOwn(errors, name)
      ? [
          {
            id: fieldId(idPrefix, index),
            text: [h("bdi", {}, labelOf(form, name, questionKey)), `: ${errors[name]}`],
          },
        ]
      : [],
  );
}
