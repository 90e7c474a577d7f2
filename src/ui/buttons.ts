// The buttons below a form. All of them send it, and the program learns which one was pressed.

import { h } from "preact";
import type { ComponentChild, ComponentChildren } from "preact";

/** A button that sends the form around it as `action=<value>`. */
export interface ButtonProps {
  readonly value: string;
  /** "main": the one that most people want. "danger": what it does cannot be undone. Default: "plain". */
  readonly kind?: "main" | "plain" | "danger" | undefined;
  /** Sends the form even if its fields are not filled in. */
  readonly isUnchecked?: boolean | undefined;
  readonly children?: ComponentChildren;
}

export function Button({ value, kind, isUnchecked, children }: ButtonProps): ComponentChild {
  return h(
    "button",
    {
      class: kind,
      type: "submit",
      name: "action",
      value,
      formnovalidate: isUnchecked,
    },
    children,
  );
}

/** Buttons in a row, or below each other where the row is too narrow. */
export const Actions = ({ children }: { readonly children?: ComponentChildren }): ComponentChild =>
  h("div", { class: "actions" }, children);
