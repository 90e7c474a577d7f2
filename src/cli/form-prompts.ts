// A form, as one prompt for each of its fields, by its type.

import { confirm, multiselect, select, text } from "@clack/prompts";
import type { InputResponse } from "@modelcontextprotocol/client";
import { isObject } from "../client/json.ts";
import type { Pending } from "../client/index.ts";
import { expectation, fits } from "../protocol/form.ts";
import type { FormField } from "../protocol/form.ts";
import { plain, plainLine } from "./plain.ts";
import { accept, through } from "./prompt.ts";
import type { Asking } from "./prompt.ts";
import { signs, style } from "./style.ts";

type Form = Extract<Pending, { kind: "form" }>;
type Value = string | number | boolean | string[];

export async function askForm(question: Form, asking: Asking): Promise<InputResponse> {
  const { schema } = question;
  const message = plain(question.message).trim();
  const fields = Object.entries(schema.properties);
  if (fields.length === 0) {
    await accept(message, "Accept", asking);
    return { action: "accept", content: {} };
  }
  const isAlone = fields.length === 1;
  if (!isAlone) asking.say(style.bold(message));
  const content: Record<string, Value> = {};
  for (const [name, field] of fields) {
    const isRequired = schema.required?.includes(name) ?? false;
    const value = await askField(
      {
        message: isAlone ? aloneLabel(message, field) : label(name, field, isRequired),
        field,
        isRequired,
      },
      asking,
    );
    if (value !== undefined) content[name] = value;
  }
  return { action: "accept", content };
}

function aloneLabel(message: string, { description }: FormField): string {
  const about = plainLine(description ?? "");
  return about === "" || message.includes(about) ? message : `${message}\n${style.dim(about)}`;
}

function label(name: string, { title, description }: FormField, isRequired: boolean): string {
  const shown = plainLine(title ?? name);
  const optional = isRequired ? "" : style.dim(" (optional)");
  const about =
    description === undefined ? "" : style.dim(` ${signs.dot} ${plainLine(description)}`);
  return `${shown}${optional}${about}`;
}

interface Asked {
  readonly message: string;
  readonly field: FormField;
  readonly isRequired: boolean;
}

/** Undefined: left out. */
function askField(asked: Asked, asking: Asking): Promise<Value | undefined> {
  const { field } = asked;
  const choices = choicesOf(field);
  switch (field.type) {
    case "boolean":
      return askYesOrNo(asked, field.default, asking);
    case "string":
      return choices === undefined
        ? askText(asked, field.default, (typed) => typed, asking)
        : askChoice(asked, choices, field.default, asking);
    case "number":
    case "integer":
      return askText(asked, field.default?.toString(), Number, asking);
    case "array":
      return askChoices(asked, choices ?? [], asking);
    default:
      // A field of a kind that is not in the protocol: as JSON, for the server to judge.
      return askText(asked, undefined, asJson, asking);
  }
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** A server can send anything as its choices. */
function choicesOf(field: FormField): Choice[] | undefined {
  const holder: unknown = field.type === "array" ? field.items : field;
  if (!isObject(holder)) return undefined;
  const titled = holder["oneOf"] ?? holder["anyOf"];
  if (Array.isArray(titled)) {
    return titled.filter(isObject).map(({ const: value, title }) => ({
      value: String(value),
      label: plainLine(typeof title === "string" ? title : String(value)),
    }));
  }
  const values = holder["enum"];
  if (!Array.isArray(values)) return undefined;
  const names = holder["enumNames"];
  return values.map((value: unknown, index) => ({
    value: String(value),
    label: plainLine(String(Array.isArray(names) ? (names[index] ?? value) : value)),
  }));
}

async function askText(
  { message, field, isRequired }: Asked,
  initialValue: string | undefined,
  read: (typed: string) => unknown,
  asking: Asking,
): Promise<Value | undefined> {
  const wanted = expectation(field);
  const typed = await through(asking, (common) =>
    text({
      ...common,
      message,
      ...(initialValue !== undefined && { initialValue: plainLine(initialValue) }),
      placeholder: isRequired
        ? wanted === "text"
          ? ""
          : wanted
        : `${wanted}; Enter leaves it out`,
      validate: (value = "") => {
        if (value === "") return isRequired ? `Expected ${wanted}.` : undefined;
        const isFine =
          !(field.type === "number" && value.trim() === "") && fits(field, read(value));
        return isFine ? undefined : `Expected ${wanted}.`;
      },
    }),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the field
  return typed === "" || typed === undefined ? undefined : (read(typed) as Value);
}

function asJson(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

async function askYesOrNo(
  { message, isRequired }: Asked,
  initialValue: boolean | undefined,
  asking: Asking,
): Promise<boolean | undefined> {
  if (isRequired || initialValue !== undefined) {
    return through(asking, (common) =>
      confirm({ ...common, message, initialValue: initialValue ?? false }),
    );
  }
  const picked = await through(asking, (common) =>
    select({
      ...common,
      message,
      options: [{ value: "yes", label: "Yes" }, { value: "no", label: "No" }, leaveOut],
    }),
  );
  return picked === leaveOut.value ? undefined : picked === "yes";
}

/** No server can have this as a choice: it is longer than any. */
const leaveOut = { value: "\u0000leave out", label: "leave it out" };

async function askChoice(
  { message, isRequired }: Asked,
  choices: readonly Choice[],
  initialValue: string | undefined,
  asking: Asking,
): Promise<string | undefined> {
  const options = isRequired ? [...choices] : [...choices, leaveOut];
  const picked = await through(asking, (common) =>
    select({
      ...common,
      message,
      options,
      maxItems: 12,
      ...(initialValue !== undefined && { initialValue }),
    }),
  );
  return picked === leaveOut.value ? undefined : picked;
}

async function askChoices(
  { message, field, isRequired }: Asked,
  choices: readonly Choice[],
  asking: Asking,
): Promise<string[] | undefined> {
  if (field.type !== "array") return undefined;
  const known = new Set(choices.map(({ value }) => value));
  let initialValues = (field.default ?? []).filter((value) => known.has(value));
  for (;;) {
    const picked = await through(asking, (common) =>
      multiselect({
        ...common,
        message,
        options: [...choices],
        initialValues,
        required: false,
        maxItems: 12,
      }),
    );
    if (picked.length === 0 && !isRequired) return undefined;
    if (fits(field, picked)) return picked;
    asking.say(style.yellow(`   Expected ${plainLine(expectation(field))}.`));
    initialValues = picked;
  }
}
