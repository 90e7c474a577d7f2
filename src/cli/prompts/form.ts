// Asks a form: one prompt for each field, by its type.

import { confirm, multiselect, select, text } from "@clack/prompts";
import type { InputResponse } from "@modelcontextprotocol/client";
import type { FormQuestion } from "../../client/index.ts";
import type { FormField } from "../../protocol/form.ts";
import { plainLine, plainText } from "../screen/plain.ts";
import { signs, style } from "../screen/style.ts";
import { choicesOf, expectedOf, takes, worded } from "./form-field.ts";
import type { Choice } from "./form-field.ts";
import { agree, through } from "./prompt.ts";
import type { Asking } from "./prompt.ts";

type Form = FormQuestion;
type Value = string | number | boolean | string[];

/** Asks for each field of a form. */
export async function askForm(question: Form, asking: Asking): Promise<InputResponse> {
  const { properties, required = [] } = question.schema;
  const message = plainText(question.message);
  const fields = Object.entries(properties);
  if (fields.length === 0) {
    await agree(message, asking);
    return { action: "accept", content: {} };
  }
  const isAlone = fields.length === 1;
  if (!isAlone) asking.say(style.bold(message));
  // Not an object while it is filled, because a field can be called `__proto__`.
  const content = new Map<string, Value>();
  for (const [name, field] of fields) {
    const isRequired = required.includes(name);
    const label = isAlone ? aloneLabel(message, field) : labelOf(name, field, isRequired);
    const value = await askField({ message: label, field, isRequired }, asking);
    if (value !== undefined) content.set(name, value);
  }
  return { action: "accept", content: Object.fromEntries(content) };
}

function aloneLabel(message: string, { description = "" }: FormField): string {
  const about = plainLine(worded(description));
  return about === "" || message.includes(about) ? message : `${message}\n${style.dim(about)}`;
}

function labelOf(
  name: string,
  { title = name, description = "" }: FormField,
  isRequired: boolean,
): string {
  const about = plainLine(worded(description));
  const parts = [
    plainLine(worded(title)),
    isRequired ? "" : style.dim(" (optional)"),
    about === "" ? "" : style.dim(` ${signs.dot} ${about}`),
  ];
  return parts.join("");
}

interface Asked {
  readonly message: string;
  readonly field: FormField;
  readonly isRequired: boolean;
}

/** The value, or undefined if the person left the field out. */
function askField(asked: Asked, asking: Asking): Promise<Value | undefined> {
  const { field } = asked;
  const choices = choicesOf(field);
  switch (field.type) {
    case "boolean":
      return askYesOrNo(asked, asking);
    case "string":
      return choices === undefined
        ? askText(asked, (typed) => typed, asking)
        : askChoice(asked, choices, asking);
    case "number":
    case "integer":
      return askText(asked, number, asking);
    case "array":
      return choices === undefined
        ? askText(asked, json, asking)
        : askChoices(asked, choices, asking);
    default:
      return askText(asked, json, asking);
  }
}

/** `Number` would turn spaces into zero. */
const number = (typed: string): number => (typed.trim() === "" ? Number.NaN : Number(typed));

function json(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

async function askText(
  { message, field, isRequired }: Asked,
  read: (typed: string) => unknown,
  asking: Asking,
): Promise<Value | undefined> {
  const wanted = expectedOf(field) ?? "JSON or text";
  const hint = wanted === "text" ? "" : wanted;
  const { default: initial } = field;
  const typed = await through(asking, (common) =>
    text({
      ...common,
      message,
      ...(initial !== undefined && { initialValue: plainLine(worded(initial)) }),
      placeholder: isRequired ? hint : `${wanted}; press Enter to skip`,
      validate: (value = "") => {
        const isFine = value === "" ? !isRequired : takes(field, read(value));
        return isFine ? undefined : `Expected ${wanted}.`;
      },
    }),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it fits the field
  return typed === "" || typed === undefined ? undefined : (read(typed) as Value);
}

/** A value that cannot be among the choices of a server. */
const leaveOut = { value: Symbol("leave out"), label: "skip" };

async function askYesOrNo(
  { message, field, isRequired }: Asked,
  asking: Asking,
): Promise<boolean | undefined> {
  const { default: initial } = field;
  if (isRequired || initial !== undefined) {
    return through(asking, (common) =>
      confirm({ ...common, message, initialValue: initial === true }),
    );
  }
  const picked = await through(asking, (common) =>
    select<string | symbol>({
      ...common,
      message,
      options: [{ value: "yes", label: "Yes" }, { value: "no", label: "No" }, leaveOut],
    }),
  );
  return picked === leaveOut.value ? undefined : picked === "yes";
}

const mostShown = 12;

async function askChoice(
  { message, field, isRequired }: Asked,
  choices: readonly Choice[],
  asking: Asking,
): Promise<string | undefined> {
  const initialValue = worded(field.default);
  const picked = await through(asking, (common) =>
    select<string | symbol>({
      ...common,
      message,
      options: isRequired ? [...choices] : [...choices, leaveOut],
      maxItems: mostShown,
      initialValue,
    }),
  );
  return typeof picked === "string" ? picked : undefined;
}

async function askChoices(
  { message, field, isRequired }: Asked,
  choices: readonly Choice[],
  asking: Asking,
): Promise<string[] | undefined> {
  const chosen = new Set<unknown>(Array.isArray(field.default) ? field.default : []);
  let initialValues = choices.map(({ value }) => value).filter((value) => chosen.has(value));
  for (;;) {
    const picked = await through(asking, (common) =>
      multiselect({
        ...common,
        message,
        options: [...choices],
        initialValues,
        required: false,
        maxItems: mostShown,
      }),
    );
    if (picked.length === 0 && !isRequired) return undefined;
    if (takes(field, picked)) return picked;
    asking.say(style.yellow(`   Expected ${expectedOf(field)}.`));
    initialValues = picked;
  }
}
