// Why a value does not fit its schema, in the schema's own words, kept short. The person or client who sent it reads this.

import type { StandardSchemaV1 } from "@modelcontextprotocol/server";

const maxIssues = 3;
const maxLength = 200;

/** Joins the first issues into one text. `name` is the name of the value itself, if it is a single field of a form. */
export function reasonOf(issues: readonly StandardSchemaV1.Issue[], name?: string): string {
  const reasons = issues.slice(0, maxIssues).map((issue) => wordsOf(issue, name));
  const left = issues.length - reasons.length;
  if (left > 0) reasons.push(`and ${left} more`);
  return reasons.join("; ") || "no reason was given";
}

function wordsOf({ path = [], message }: StandardSchemaV1.Issue, name: string | undefined): string {
  const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
  const field = (name === undefined ? keys : [name, ...keys]).join(".");
  // The messages of arktype begin with the path.
  const repeated = `${keys.join(".")} `;
  const words = cut(message.startsWith(repeated) ? message.slice(repeated.length) : message);
  return field === "" ? words : `"${cut(field)}": ${words}`;
}

/** At most 200 characters of a text. */
export function cut(text: string): string {
  if (text.length <= maxLength) return text;
  // Not between the two halves of a surrogate pair.
  return `${text.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
