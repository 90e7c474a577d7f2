// What happens to a question that this client cannot be asked: the error that the handler gets, and the message that
// tells the client what it lacks.

import { UnansweredError } from "../../errors.ts";
import type { Ability } from "../../protocol/capabilities.ts";
import { expectation } from "../../protocol/form.ts";
import type { FormJson } from "../../protocol/form.ts";
import { tasksExtension } from "../../protocol/task.ts";
import { cut } from "../forms/issues.ts";

/** A question that the client lacks the capability for. */
export class Unsupported extends UnansweredError {
  readonly needs: Ability;

  /**
   * `handler` is the name of the tool, prompt or resource. `question` says what would have been asked, `why` takes the place
   * of the reason that the ability gives.
   */
  constructor(handler: string, key: string, needs: Ability, question = "", why?: string) {
    super(key, "unsupported");
    this.needs = needs;
    if (why !== undefined) {
      this.message = `Question "${key}" of "${handler}" was not asked: ${why}.${question}`;
      return;
    }
    this.message =
      needs === "task"
        ? `"${handler}" cannot wait for "${key}": this client does not support tasks. Turn on parley({ relay: true }), or add requires: ["task"] to refuse such clients before anything runs.`
        : `"${handler}" cannot ask question "${key}": this client does not support it, because it has not declared ${declarations[needs]}.${question}`;
  }
}

const declarations: Record<Ability, string> = {
  form: "the elicitation.form capability",
  url: "the elicitation.url capability",
  sampling: "the sampling capability",
  "sampling.tools": "the sampling.tools capability",
  "sampling.context": "the sampling.context capability",
  roots: "the roots capability",
  task: `the tasks extension (${tasksExtension})`,
};

/** A question that no way to the person is open for. */
export function notAsked({ key, sensitive, call }: UnaskedQuestion, question: string): Unsupported {
  if (sensitive === true) {
    const why = "it is sensitive, so it needs a page, and this client opens none";
    return new Unsupported(call.name, key, "url", question, why);
  }
  const why = call.can("url")
    ? "this client supports pages only, and the app has no public address for them"
    : "this client supports neither forms nor pages, and relay is off for it";
  return new Unsupported(call.name, key, "form", question, why);
}

interface UnaskedQuestion {
  readonly key: string;
  readonly sensitive?: boolean | undefined;
  readonly call: { readonly name: string; readonly can: (ability: Ability) => boolean };
}

const mostFields = 5;

/** A question with a form in one sentence, so that a model can put it to its user in its own way. */
export function inWords(message: string, form?: FormJson): string {
  const fields = Object.entries(form?.properties ?? {});
  const shown = fields.slice(0, mostFields).map(([name, field]) => {
    const words = cut(expectation(field));
    return fields.length === 1 ? words : `${cut(name)} (${words})`;
  });
  if (fields.length > mostFields) shown.push(`and ${fields.length - mostFields} more`);
  const expected = shown.length === 0 ? "" : ` It expects ${shown.join(", ")}.`;
  return ` The question is: ${JSON.stringify(cut(message))}.${expected}`;
}
