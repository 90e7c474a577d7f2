// Turns `name=value` words into a tool's arguments by its input schema: `seats=2` is a number if the tool expects one.

import { isObject, own } from "../../util/objects.ts";
import type { Members } from "../../util/objects.ts";
import { UsageError } from "../command.ts";
import { didYouMean } from "./command-line.ts";
import { plainLine } from "../screen/plain.ts";

/** `base` comes from a file. The words override it. */
export function typedArguments(
  words: readonly string[],
  schema: unknown,
  base: Members = {},
): Members {
  const args = new Map(Object.entries(base));
  const typed = new Set<string>();
  for (const word of words) {
    const [, name = "", isJson, text = ""] = /^([^=:]+)(:)?=(.*)$/s.exec(word) ?? [];
    if (name === "")
      throw new UsageError(`"${word}" is not an argument. Write name=value or name:=json.`);
    if (isJson !== undefined) args.set(name, json(name, text));
    else {
      const value = valueOf(name, text, fieldOf(schema, name));
      // A list can also be given item by item.
      const before = typed.has(name) ? args.get(name) : undefined;
      args.set(name, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value);
    }
    typed.add(name);
  }
  for (const name of requiredIn(schema)) {
    if (args.has(name)) continue;
    const wanted = expected(own(own(schema, "properties"), name));
    throw new UsageError(`The tool needs ${name} (${wanted}). Add ${name}=…`);
  }
  return Object.fromEntries(args);
}

function json(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`The value after ${name}:= is not JSON: ${text}`);
  }
}

function fieldOf(schema: unknown, name: string): unknown {
  const properties = own(schema, "properties");
  const field = own(properties, name);
  if (field !== undefined) return field;
  const others = own(schema, "additionalProperties");
  if (others === true) return {};
  if (isObject(others)) return others;
  const known = isObject(properties) ? Object.keys(properties).map((key) => plainLine(key)) : [];
  const list = known.length === 0 ? "It takes no arguments." : `It takes ${known.join(", ")}.`;
  throw new UsageError(`The tool has no argument "${name}"${didYouMean(name, known)} ${list}`);
}

function requiredIn(schema: unknown): readonly string[] {
  const required = own(schema, "required");
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

function valueOf(name: string, text: string, field: unknown): unknown {
  const value = read(text, field);
  if (value !== undefined) return value;
  throw new UsageError(`${name} must be ${expected(field)}, not "${text}".`);
}

/** The value, or undefined if the text does not fit. */
function read(text: string, field: unknown): unknown {
  const choices = choicesOf(field);
  if (choices !== undefined) return choices.find((choice) => String(choice) === text);
  const type = typeOf(field);
  switch (type) {
    case "string":
      return text;
    case "number":
    case "integer": {
      const number = text.trim() === "" ? Number.NaN : Number(text);
      const isFine = type === "integer" ? Number.isInteger(number) : Number.isFinite(number);
      return isFine ? number : undefined;
    }
    case "boolean":
      return { true: true, yes: true, false: false, no: false }[text.toLowerCase()];
    case "array":
      return readList(text, own(field, "items"));
    case "object":
      return isObject(parsed(text)) ? parsed(text) : undefined;
    default:
      // The schema allows several types, so JSON is read as JSON and everything else as text.
      return parsed(text) ?? text;
  }
}

function readList(text: string, item: unknown): unknown[] | undefined {
  const whole = text.startsWith("[") ? parsed(text) : undefined;
  if (Array.isArray(whole)) return whole;
  const items = (text === "" ? [] : text.split(",")).map((part) => read(part.trim(), item));
  return items.includes(undefined) ? undefined : items;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Empty if the schema names no type, or several. */
function typeOf(field: unknown): string {
  const type = own(field, "type");
  return typeof type === "string" ? type : "";
}

function choicesOf(field: unknown): readonly unknown[] | undefined {
  const choices = own(field, "enum");
  if (Array.isArray(choices)) return choices;
  const constant = own(field, "const");
  return constant === undefined ? undefined : [constant];
}

/** Completes "must be": a whole number, text, one of "a", "b". */
export function expected(field: unknown): string {
  const choices = choicesOf(field);
  if (choices !== undefined) {
    return plainLine(`one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`);
  }
  const type = typeOf(field);
  switch (type) {
    case "string":
      return "text";
    case "number":
      return "a number";
    case "integer":
      return "a whole number";
    case "boolean":
      return "true or false";
    case "array":
      return `a list (a,b,c) of ${expected(own(field, "items"))}`;
    case "object":
      return "a JSON object";
    default:
      return "JSON or text";
  }
}
