// A whole page, as HTML that needs no scripts and loads nothing.

import { h } from "preact";
import type { ComponentChild } from "preact";
import { renderToString } from "preact-render-to-string";
import { Ask } from "./ask-form.ts";
import { Card } from "./card.ts";
import type { AskProps } from "./ask-form.ts";
import { style } from "./style.ts";

/** A page with a question. */
export function askPage(props: AskProps & { readonly note?: string | undefined }): string {
  const { note, from, input, error } = props;
  const isWrong =
    error !== undefined ||
    (input.kind === "json" ? input.error !== undefined : Object.keys(input.errors).length > 0);
  // A screen reader reads the title first.
  return page(`${isWrong ? "Error: " : ""}${from} asks you a question`, [
    h(Ask, props),
    note === undefined ? undefined : h("p", { class: "foot" }, note),
  ]);
}

/** A page that says one thing. */
export function messagePage(
  from: string,
  title: string,
  text: string,
  link?: { readonly href: string; readonly text: string },
): string {
  return page(`${title} – ${from}`, [
    h(
      Card,
      { from: h("bdi", {}, from), title },
      h("p", {}, text),
      link && h("p", {}, h("a", { href: link.href }, link.text)),
    ),
  ]);
}

/** A whole document. A script is only for the App, because pages work without any. */
export function page(
  title: string,
  body: readonly ComponentChild[],
  { css = style, script }: { readonly css?: string; readonly script?: string } = {},
): string {
  const head = h(
    "head",
    {},
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "robots", content: "noindex" }),
    h("title", {}, title),
    // The text is ours, and a browser does not decode entities in it.
    h("style", { dangerouslySetInnerHTML: { __html: css } }),
  );
  const main = h(
    "body",
    {},
    h("main", {}, body),
    script === undefined
      ? undefined
      : h("script", { type: "module", dangerouslySetInnerHTML: { __html: script } }),
  );
  return `<!doctype html>${renderToString(h("html", { lang: "en" }, head, main))}`;
}
