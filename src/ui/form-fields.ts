// The fields of a form, as HTML that works without scripts: one label, one hint and one error for each, tied to it by id.

import { h } from "preact";
import type { ComponentChild } from "preact";
import type { FormField, FormJson, TitledChoice } from "../protocol/form.ts";
import { isObject } from "../util/objects.ts";
import { inputName } from "./form-values.ts";

/** A form, and what it contains. */
export interface FormProps {
  readonly form: FormJson;
  /** The key of the question, if there is one. */
  readonly questionKey?: string | undefined;
  /** What each field contains now. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: Readonly<Record<string, string>>;
  /** Begins the id of every field. */
  readonly idPrefix: string;
  /** Hides what is typed into fields of text. */
  readonly isSecret?: boolean | undefined;
}

/** All fields of a form, in their order. */
export function FormFields(props: FormProps): ComponentChild {
  const { form, values, errors, idPrefix, isSecret } = props;
  const fields = Object.entries(form.properties);
  // The browser goes to the first field that is wrong, even without scripts.
  const firstWrong = fields.findIndex(([name]) => Object.hasOwn(errors, name));
  return h(
    "div",
    { class: "fields" },
    fields.map(([name, field], index) =>
      h(Field, {
        key: name,
        id: fieldId(idPrefix, index),
        name,
        label: labelOf(form, name, props.questionKey),
        field,
        isRequired: form.required?.includes(name) === true,
        value: Object.hasOwn(values, name) ? values[name] : undefined,
        error: Object.hasOwn(errors, name) ? errors[name] : undefined,
        isFocused: index === firstWrong,
        isSecret,
      }),
    ),
  );
}

/** The id of a field. */
export const fieldId = (prefix: string, index: number): string => `${prefix}f${index}`;

interface FieldProps {
  /** Unique in the document. */
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly field: FormField;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly error: string | undefined;
  readonly isFocused: boolean;
  readonly isSecret: boolean | undefined;
}

function Field(props: FieldProps): ComponentChild {
  const { field } = props;
  switch (field.type) {
    case "boolean":
      return h(TickBox, props);
    case "array": {
      const { items } = field;
      const choices = "enum" in items ? untitled(items.enum) : items.anyOf;
      return h(ChoiceGroup, { ...props, choices, type: "checkbox" });
    }
    case "string": {
      const choices = field.oneOf ?? (field.enum && untitled(field.enum));
      if (choices === undefined) return h(TextBox, props);
      return choices.length <= mostButtons
        ? h(ChoiceGroup, { ...props, choices, type: "radio" })
        : h(ChoiceList, { ...props, choices });
    }
    case "number":
    case "integer":
      return h(TextBox, props);
  }
}

/** A longer list is shown as a drop-down. */
const mostButtons = 7;

const untitled = (values: readonly string[]): readonly TitledChoice[] =>
  values.map((value) => ({ const: value, title: value }));

/** The label of a field: its title, or its name in words. If it is the whole answer to a question, its name says nothing. */
export function labelOf(form: FormJson, name: string, questionKey: string | undefined): string {
  const { title, type } = form.properties[name] ?? {};
  if (title !== undefined && title.trim() !== "") return title;
  const isWhole = name === questionKey && Object.keys(form.properties).length === 1;
  if (isWhole) return type === "boolean" ? "Yes" : "Your answer";
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .trim();
  const [first = name, ...rest] = words.split(" ");
  const plain = rest.map((word) => (/^[A-Z][a-z]+$/.test(word) ? word.toLowerCase() : word));
  return [first.charAt(0).toUpperCase() + first.slice(1), ...plain].join(" ");
}

const optional = (isRequired: boolean): ComponentChild =>
  isRequired ? undefined : h("span", { class: "optional" }, " (optional)");

/** The hint and the error of a field. The ids are those that `described` names. */
function notes({ id, field: { description }, error }: FieldProps): ComponentChild[] {
  return [
    description === undefined
      ? undefined
      : h("p", { class: "hint", id: `${id}-hint`, dir: "auto" }, description),
    error === undefined
      ? undefined
      : h(
          "p",
          { class: "error", id: `${id}-error`, dir: "ltr" },
          h("strong", {}, "Error: "),
          error,
        ),
  ];
}

function described({ id, field: { description }, error }: FieldProps): {
  readonly "aria-describedby"?: string;
  readonly "aria-invalid"?: "true";
} {
  const ids = [
    description === undefined ? [] : [`${id}-hint`],
    error === undefined ? [] : [`${id}-error`],
  ].flat();
  return {
    ...(ids.length === 0 ? {} : { "aria-describedby": ids.join(" ") }),
    ...(error === undefined ? {} : { "aria-invalid": "true" }),
  };
}

// ---------------------------------------------------------------- the kinds of field

function TextBox(props: FieldProps): ComponentChild {
  const { id, name, label, field, isRequired, value, isFocused, isSecret = false } = props;
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  const common = {
    id,
    name: inputName(name),
    required: isRequired,
    autofocus: isFocused,
    // A secret does not stand in the page, not even after a mistake.
    defaultValue: isSecret ? "" : text,
    dir: "auto",
    ...described(props),
  };
  const isLong = field.type === "string" && (field.maxLength ?? 0) > longLine;
  return h(
    "div",
    { class: "field", dir: "auto" },
    h("label", { for: id }, label, optional(isRequired)),
    ...notes(props),
    isLong
      ? h("textarea", { ...common, rows: 6, ...(isSecret && { class: "secret", ...unspelt }) })
      : h("input", { ...common, ...kindOf(field), ...(isSecret && hidden) }),
  );
}

/** What a secret needs, because some browsers send what they spell to a service. */
const unspelt = { spellcheck: false, autocapitalize: "none" } as const;

/** "off" would let browsers fill in the password that they know for this site. */
const hidden = { type: "password", autocomplete: "new-password", ...unspelt };

/** A text that may have more characters than this gets several lines. */
const longLine = 200;

function kindOf(field: FormField): Record<string, string | number | undefined> {
  if (field.type === "integer" || field.type === "number") {
    const step = field.type === "integer" ? 1 : "any";
    return { type: "number", step, min: field.minimum, max: field.maximum };
  }
  if (field.type !== "string") return {};
  const { format, minLength, maxLength } = field;
  const length = { minlength: minLength, maxlength: maxLength };
  switch (format) {
    case "email":
      return { type: "email", autocomplete: "email", ...length };
    case "uri":
      return { type: "url", autocomplete: "url", ...length };
    case "date":
      return { type: "date" };
    case "date-time":
      // The browser's own field for it has no time zone, which an answer needs.
      return { type: "text", placeholder: "2026-11-15T09:30:00Z", ...length };
    case undefined:
      return { type: "text", autocomplete: "off", ...length };
  }
}

function TickBox(props: FieldProps): ComponentChild {
  const { id, name, label, value, isFocused } = props;
  return h(
    "div",
    { class: "field", dir: "auto" },
    h(
      "div",
      { class: "choice", dir: "auto" },
      h("input", {
        id,
        name: inputName(name),
        type: "checkbox",
        value: "yes",
        defaultChecked: value === true,
        autofocus: isFocused,
        ...described(props),
      }),
      h("label", { for: id }, label),
    ),
    ...notes(props),
  );
}

type ChoiceProps = FieldProps & { readonly choices: readonly TitledChoice[] };

function ChoiceGroup(props: ChoiceProps & { readonly type: "radio" | "checkbox" }): ComponentChild {
  const { id, name, label, isRequired, value, isFocused, choices, type } = props;
  const isChosen = (choice: string) =>
    Array.isArray(value) ? value.includes(choice) : value === choice;
  // A button cannot be let go of, so a choice that is not required needs one that means "none".
  const none = { const: "", title: "No answer" };
  const shown = type === "radio" && !isRequired ? [...choices, none] : choices;
  return h(
    "fieldset",
    // Links of the list of errors lead here.
    { class: "field", id, tabindex: -1, dir: "auto", ...described(props) },
    h("legend", {}, label, optional(isRequired)),
    ...notes(props),
    shown.map((choice, index) =>
      h(
        "div",
        { class: "choice", dir: "auto", key: choice.const },
        h("input", {
          id: `${id}-${index}`,
          name: inputName(name),
          type,
          value: choice.const,
          defaultChecked: choice === none ? value === undefined : isChosen(choice.const),
          required: type === "radio" && isRequired,
          autofocus: isFocused && index === 0,
        }),
        h("label", { for: `${id}-${index}` }, choice.title),
      ),
    ),
  );
}

function ChoiceList(props: ChoiceProps): ComponentChild {
  const { id, name, label, isRequired, value, isFocused, choices } = props;
  return h(
    "div",
    { class: "field", dir: "auto" },
    h("label", { for: id }, label, optional(isRequired)),
    ...notes(props),
    h(
      "select",
      {
        id,
        name: inputName(name),
        required: isRequired,
        autofocus: isFocused,
        dir: "auto",
        ...described(props),
      },
      h(
        "option",
        { value: "", selected: value === undefined },
        isRequired ? "Choose…" : "No answer",
      ),
      choices.map((choice) =>
        h(
          "option",
          { key: choice.const, value: choice.const, selected: value === choice.const },
          choice.title,
        ),
      ),
    ),
  );
}

/** The field for a value that no form can show. */
export function JsonField(props: {
  readonly idPrefix: string;
  readonly text: string;
  readonly schema: unknown;
  readonly error: string | undefined;
}): ComponentChild {
  const { idPrefix, text, schema, error } = props;
  const id = `${idPrefix}json`;
  const isWrong = error !== undefined;
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, "Your answer, as JSON"),
    schema === undefined
      ? undefined
      : h(
          "details",
          { class: "hint" },
          h("summary", {}, "What is expected, as a JSON Schema"),
          // It can be scrolled, so the keyboard has to reach it.
          h("pre", { tabindex: 0, dir: "ltr" }, JSON.stringify(plainSchema(schema), undefined, 2)),
        ),
    isWrong
      ? h("p", { class: "error", id: `${id}-error` }, h("strong", {}, "Error: "), error)
      : undefined,
    h("textarea", {
      id,
      name: "json",
      rows: 8,
      required: true,
      spellcheck: false,
      autofocus: isWrong,
      dir: "ltr",
      defaultValue: text,
      ...(isWrong && { "aria-describedby": `${id}-error`, "aria-invalid": "true" }),
    }),
  );
}

/** Which version of JSON Schema it is tells nobody what to write. */
function plainSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { $schema: _version, ...rest } = schema;
  return rest;
}
