// A question as people see it: who asks, what is asked, what they should know, and the form.

import { h } from "preact";
import type { ComponentChild } from "preact";
import { Actions, Button } from "./buttons.ts";
import { AboutList, Card } from "./card.ts";
import { InputForm, isBare } from "./input-form.ts";
import type { AskInput, InputFormProps } from "./input-form.ts";

/** A question, and what has been filled in so far. */
export interface AskProps extends Pick<InputFormProps, "isSecret" | "error" | "idPrefix"> {
  /** The name of the server. */
  readonly from: string;
  readonly message: string;
  /** What is shown beside the question. */
  readonly about?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly input: AskInput;
  /** Whether there is a button to decline. */
  readonly canDecline?: boolean | undefined;
}

/** What the two buttons send. */
export const actions = { accept: "accept", decline: "decline" } as const;

/** The question and its form. */
export function Ask(props: AskProps): ComponentChild {
  const { from, message, about, input, canDecline = false, ...form } = props;
  const isYesOrNo = isBare(input);
  const { title, text } = headed(message);
  return h(
    Card,
    { from: [h("bdi", {}, from), " asks"], title },
    text === "" ? undefined : h("p", { class: "text", dir: "auto" }, text),
    h(AboutList, { about }),
    h(
      InputForm,
      { ...form, input },
      h(
        Actions,
        {},
        h(Button, { kind: "main", value: actions.accept }, isYesOrNo ? "Yes" : "Send"),
        canDecline
          ? h(Button, { value: actions.decline, isUnchecked: true }, isYesOrNo ? "No" : "Decline")
          : undefined,
      ),
    ),
  );
}

/** A heading that is too long to be one ends with its first line or sentence. What follows is shown below it. */
function headed(message: string): { readonly title: string; readonly text: string } {
  const isShort = message.length <= 120 && !message.trim().includes("\n");
  const end = isShort ? null : /\n|[.!?؟。]\s/u.exec(message);
  const at = end === null ? message.length : end.index + 1;
  return { title: message.slice(0, at).trim(), text: message.slice(at).trim() };
}
