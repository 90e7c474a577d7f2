// Names for the questions of a 2025-11-25 session, where a server asks without naming its questions. A name comes from the
// question itself, so that it is the same in another session and after a resume.

import { isObject, own } from "../util/objects.ts";

/** The longest name of a field that becomes the name of its question. */
const longestName = 80;
const mostWords = 8;

/** A form with one field is named after the field, and any other question after its message. */
export function nameOf(request: unknown): string {
  const params = own(request, "params");
  const method = own(request, "method");
  if (method === "sampling/createMessage") return "sampling";
  if (method === "roots/list") return "roots";
  const properties = own(own(params, "requestedSchema"), "properties");
  const fields = isObject(properties) ? Object.keys(properties) : [];
  const [only = ""] = fields;
  if (fields.length === 1 && only !== "" && only.length <= longestName) return only;
  const message = own(params, "message");
  return (typeof message === "string" ? worded(message) : "") || "question";
}

/** "Delete a.txt for good?" becomes "delete-a-txt-for-good". */
function worded(message: string): string {
  const words =
    message
      .slice(0, 1_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, mostWords).join("-").slice(0, longestName);
}

/** The names of the questions of one call. Like a task, it calls a question that is asked again `size~2`. */
export class QuestionNames {
  readonly #taken = new Set<string>();

  unique(name: string): string {
    let found = name;
    for (let times = 2; this.#taken.has(found); times += 1) found = `${name}~${times}`;
    this.#taken.add(found);
    return found;
  }
}
