// A card: who speaks, a heading, and what belongs to it. Pages show one, the App and the console may show several.

import { h } from "preact";
import type { ComponentChild, ComponentChildren } from "preact";

/** A heading with what belongs to it. */
export interface CardProps {
  /** Who speaks, in a line above the heading. */
  readonly from: ComponentChild;
  /** The heading. Its line breaks are kept. */
  readonly title: string;
  /** The level of the heading. Default: 1. */
  readonly level?: 1 | 2 | 3 | undefined;
  /** "status": a screen reader reads the card aloud when it appears. */
  readonly role?: "status" | undefined;
  readonly children?: ComponentChildren;
}

/** Texts come in any language, so each one decides on its own whether it runs from right to left. */
export function Card({ from, title, level = 1, role, children }: CardProps): ComponentChild {
  return h(
    "section",
    { class: "card", role },
    h("p", { class: "from" }, from),
    // The App moves the focus there, so that a screen reader goes on with the new question.
    h(`h${level}`, { class: "title", dir: "auto", tabindex: -1 }, title),
    children,
  );
}

/** What someone should know before they answer: names and values. Nothing if there are none. */
export function AboutList({
  about,
}: {
  readonly about: Readonly<Record<string, string | number | boolean>> | undefined;
}): ComponentChild {
  const entries = Object.entries(about ?? {});
  if (entries.length === 0) return undefined;
  return h(
    "dl",
    { class: "about" },
    entries.map(([name, value]) =>
      h(
        "div",
        { key: name },
        h("dt", { dir: "auto" }, name),
        h("dd", { dir: "auto" }, aboutText(value)),
      ),
    ),
  );
}

function aboutText(value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return String(value);
}
