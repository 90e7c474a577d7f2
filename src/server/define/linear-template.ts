// A URI template that matches in time linear in the URI. The SDK matches with a regular expression, which tries every
// way to divide a segment among its variables: with `{a}-{b}-{c}`, a URI of a few kilobytes takes it seconds. A URI comes
// from the client, so this one finds the same match without trying.

import { UriTemplate } from "@modelcontextprotocol/server";

/** What a template's variables are in a URI. */
export type TemplateVariables = NonNullable<ReturnType<UriTemplate["match"]>>;

/** The longest URI that is matched, in characters. A longer one matches no template. */
export const longestUri = 8_192;

/** Matches exactly what the SDK's template matches, with the same values. */
export class LinearTemplate extends UriTemplate {
  readonly #parts: readonly Part[];
  /** Set if there is one variable, as in most templates. Nothing can be divided then. */
  readonly #single: SingleVariable | undefined;

  constructor(template: string) {
    super(template);
    this.#parts = partsOf(template);
    this.#single = singleIn(this.#parts);
  }

  override match(uri: string): TemplateVariables | null {
    if (uri.length > longestUri) return null;
    const [first] = this.#parts;
    // Most URIs that do not match differ here.
    if (first?.kind === "text" && !uri.startsWith(first.text)) return null;
    if (this.#single !== undefined) return matchOne(this.#single, uri);
    const ends = endsOf(this.#parts, uri);
    if (ends === undefined) return null;
    const variables: TemplateVariables = {};
    let start = 0;
    for (const [index, part] of this.#parts.entries()) {
      const end = ends[index] ?? start;
      if (part.kind === "variable") {
        const value = uri.slice(start, end);
        variables[part.name] = part.isExploded && value.includes(",") ? value.split(",") : value;
      }
      start = end;
    }
    return variables;
  }
}

type Part =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "variable";
      readonly name: string;
      readonly isExploded: boolean;
      /** Whether a character may be part of the value. */
      readonly accepts: (character: string) => boolean;
      /** Whether a value is a list with commas between its items, none of which is empty. */
      readonly isList: boolean;
    };

/** The variable of a template that has no other, and the texts around it. */
interface SingleVariable {
  readonly before: string;
  readonly variable: Variable;
  readonly behind: string;
}

function singleIn(parts: readonly Part[]): SingleVariable | undefined {
  const variables = parts.filter((part) => part.kind === "variable");
  const [variable] = variables;
  if (variable === undefined || variables.length > 1 || variable.isList) return undefined;
  const at = parts.indexOf(variable);
  const textOf = (some: readonly Part[]) =>
    some.map((part) => (part.kind === "text" ? part.text : "")).join("");
  return { before: textOf(parts.slice(0, at)), variable, behind: textOf(parts.slice(at + 1)) };
}

function matchOne(
  { before, variable, behind }: SingleVariable,
  uri: string,
): TemplateVariables | null {
  const end = uri.length - behind.length;
  if (end <= before.length || !uri.startsWith(before) || !uri.endsWith(behind)) return null;
  const value = uri.slice(before.length, end);
  for (const character of value) if (!variable.accepts(character)) return null;
  const isList = variable.isExploded && value.includes(",");
  return { [variable.name]: isList ? value.split(",") : value };
}

/** Where each part ends, if the parts match the whole URI. Each variable is as long as the rest allows, from left to right. */
function endsOf(parts: readonly Part[], uri: string): number[] | undefined {
  const rest = restOf(parts, uri);
  if (rest[0]?.[0] !== 1) return undefined;
  const ends: number[] = [];
  let at = 0;
  for (const [index, part] of parts.entries()) {
    at = part.kind === "text" ? at + part.text.length : longest(part, uri, at, rest[index + 1]);
    ends.push(at);
  }
  return ends;
}

/** For each part and each position: 1 if this part and those after it match the URI from there to its end. */
function restOf(parts: readonly Part[], uri: string): Uint8Array[] {
  const size = uri.length + 1;
  let after = new Uint8Array(size);
  after[uri.length] = 1;
  const rest = [after];
  for (const part of parts.toReversed()) {
    const here = new Uint8Array(size);
    if (part.kind === "text") markText(part.text, uri, here, after);
    else markVariable(part, uri, here, after);
    rest.unshift(here);
    after = here;
  }
  return rest;
}

function markText(text: string, uri: string, here: Uint8Array, after: Uint8Array): void {
  for (let at = uri.indexOf(text); at !== -1; at = uri.indexOf(text, at + 1)) {
    here[at] = after[at + text.length] ?? 0;
  }
}

type Variable = Extract<Part, { kind: "variable" }>;

/** From the end to the start, so that each position needs to look only at the one behind it. */
function markVariable(part: Variable, uri: string, here: Uint8Array, after: Uint8Array): void {
  // Whether a value that has a character before this position can end here or later.
  let canEnd = after[uri.length] ?? 0;
  for (let at = uri.length - 1; at >= 0; at -= 1) {
    const character = uri.charAt(at);
    if (part.isList && character === ",") {
      // An item has to begin right after a comma.
      canEnd = after[at] === 1 || here[at + 1] === 1 ? 1 : 0;
    } else if (part.accepts(character)) {
      here[at] = canEnd;
      canEnd = after[at] === 1 || here[at] === 1 ? 1 : 0;
    } else {
      canEnd = after[at] ?? 0;
    }
  }
}

/** The last place where the value may end so that the rest matches. */
function longest(
  part: Variable,
  uri: string,
  start: number,
  after: Uint8Array | undefined,
): number {
  let end = start;
  for (let at = start; at < uri.length; at += 1) {
    const character = uri.charAt(at);
    const isComma = part.isList && character === ",";
    if (isComma ? at === start || uri.charAt(at - 1) === "," : !part.accepts(character)) break;
    if (!isComma && after?.[at + 1] === 1) end = at + 1;
  }
  return end;
}

// ---------------------------------------------------------------- the template

/** Reads a template as the SDK does: of several names in one expression, only `?` and `&` use more than the first. */
function partsOf(template: string): Part[] {
  const parts: Part[] = [];
  for (const [, text = "", expression] of template.matchAll(/([^{]*)(?:\{([^}]*)\})?/g)) {
    addText(parts, text);
    if (expression !== undefined) addExpression(parts, expression);
  }
  return parts;
}

function addExpression(parts: Part[], expression: string): void {
  const operator = /^[+#./?&]/.exec(expression)?.[0] ?? "";
  const isExploded = expression.includes("*");
  const names = expression
    .slice(operator.length)
    .split(",")
    .map((name) => name.replace("*", "").trim())
    .filter((name) => name !== "");
  const variable = { kind: "variable", isExploded, isList: false } as const;
  if (operator === "?" || operator === "&") {
    for (const [index, name] of names.entries()) {
      addText(parts, `${index === 0 ? operator : "&"}${name}=`);
      parts.push({ ...variable, name, accepts: isNoAmpersand });
    }
    return;
  }
  const [name = ""] = names;
  if (operator === "+" || operator === "#") {
    parts.push({ ...variable, name, accepts: isOnTheLine });
    return;
  }
  addText(parts, operator);
  parts.push({
    ...variable,
    name,
    accepts: isInSegment,
    isList: isExploded && operator !== ".",
  });
}

function addText(parts: Part[], text: string): void {
  if (text !== "") parts.push({ kind: "text", text });
}

const isNoAmpersand = (character: string): boolean => character !== "&";
const isInSegment = (character: string): boolean => character !== "/" && character !== ",";
/** What `.` matches in a regular expression. */
const isOnTheLine = (character: string): boolean =>
  character !== "\n" && character !== "\r" && character !== "\u2028" && character !== "\u2029";
