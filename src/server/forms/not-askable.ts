// The errors for a schema that a form cannot show. Each names the field, and says what to write instead.

import { ParleyError } from "../../errors.ts";

/** Where a schema stands: its question, its field (none for a form of one value), and the root for `$ref`. */
export interface Place {
  readonly key: string;
  readonly name: string | undefined;
  readonly root: unknown;
}

interface NotAskableReason {
  readonly is: string;
  readonly advice: string;
}

type RefusedStructure =
  | "object"
  | "record"
  | "tuple"
  | "list"
  | "objects"
  | "union"
  | "any"
  | "structured"
  | "empty"
  | "missing"
  | "reference";

/** What a form cannot show, and the advice for each. */
export const refusals: Readonly<Record<RefusedStructure, NotAskableReason>> = {
  object: {
    is: "is an object",
    advice: "Make its members fields of their own, or ask a second question",
  },
  record: {
    is: "is a record",
    advice: "Name its members and make them fields of their own, or ask for one at a time",
  },
  tuple: { is: "is a tuple", advice: "Make its elements fields of their own" },
  list: {
    is: "is a list of free values",
    advice: "Make it a list of an enum to choose from, or ask for one line of text and split it",
  },
  objects: {
    is: "is a list of objects",
    advice: "Ask for them one at a time, each under a key of its own",
  },
  union: {
    is: "is a union of different types",
    advice: "Ask for the type first, then for the value",
  },
  any: {
    is: "is of any type, or of one that JSON does not have (a Date, a Set)",
    advice: "Ask for a string and turn the answer into the value",
  },
  structured: {
    is: "is a choice of objects or lists",
    advice: "Give each a name, ask for the name and look up what it stands for",
  },
  empty: { is: "can have no value", advice: "Leave it out" },
  missing: {
    is: "is required, but is not one of the fields",
    advice: "Add it to the properties, or do not require it",
  },
  reference: {
    is: "is a reference that leads nowhere or in a circle",
    advice: "Write its schema out in its place",
  },
};

/** Two choices look the same to the person. */
export const alikeChoices = (text: string): NotAskableReason => ({
  is: `has two choices that read "${text}"`,
  advice: "Make every choice a string of its own",
});

/** Throws the error for this place. */
export function refuse({ key, name }: Place, { is, advice }: NotAskableReason): never {
  throw notAskable(key, `${name === undefined ? "it" : `"${name}"`} ${is}`, advice);
}

/** The error for a question whose schema a form cannot show. */
export function notAskable(
  key: string,
  wrong: string,
  advice: string,
  options?: ErrorOptions,
): ParleyError {
  const form = "A form has one level of strings, numbers, booleans and choices";
  return new ParleyError(
    "not_askable",
    `Question "${key}" cannot be shown as a form, because ${wrong}. ${form}. ${advice}.`,
    options,
  );
}
