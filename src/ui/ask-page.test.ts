// The page of a question as HTML. `npm run test:browser` visits the same pages in a browser.

import { describe, expect, test } from "vitest";
import type { FormField, FormJson } from "../protocol/form.ts";
import type { AskProps } from "./ask-form.ts";
import { readForm } from "./form-values.ts";
import { askPage } from "./page.ts";

const formOf = (field: FormField, name = "q"): FormJson => ({
  type: "object",
  properties: { [name]: field },
  required: [name],
});

function pageOf(
  form: FormJson,
  more: Partial<AskProps> = {},
  filled: { values?: Record<string, unknown>; errors?: Record<string, string> } = {},
): string {
  const input = {
    kind: "form",
    form,
    questionKey: "q",
    values: {},
    errors: {},
    ...filled,
  } as const;
  return askPage({ from: "desk", message: "How many?", input, ...more });
}

describe("a field", () => {
  test.each([
    [{ type: "string" }, "q", "Your answer"],
    [{ type: "boolean" }, "q", "Yes"],
    [{ type: "string", title: "Reason" }, "q", "Reason"],
    [{ type: "string" }, "shipTo_name", "Ship to name"],
  ] as const)("%j with the name %s is labelled %s", (field, name, label) => {
    expect(pageOf(formOf(field, name))).toMatch(new RegExp(`<label for="f0">${label}</label>`));
  });

  test("that is wrong has the focus, and only the first one", () => {
    const form: FormJson = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
    };
    const html = pageOf(form, {}, { errors: { a: "No.", b: "No." } });
    expect(html.match(/<input[^>]* autofocus/g)).toHaveLength(1);
    expect(html).toMatch(/<input id="f0"[^>]* autofocus/);
    expect(html).toContain("<title>Error: desk asks you a question</title>");
    expect(pageOf(form)).not.toContain("autofocus");
  });

  test("of a secret is hidden and left empty", () => {
    const field = formOf({ type: "string" });
    const html = pageOf(field, { isSecret: true }, { values: { q: "hunter2" } });
    expect(html).not.toContain("hunter2");
    expect(html).toMatch(/type="password"/);
    expect(pageOf(field, {}, { values: { q: "hunter2" } })).toContain('value="hunter2"');
  });

  test("of a secret with several lines keeps them", () => {
    const html = pageOf(formOf({ type: "string", maxLength: 4000 }), { isSecret: true });
    expect(html).toMatch(/<textarea[^>]*class="secret"/);
  });
});

describe("a question", () => {
  const heading = (html: string) => /<h1[^>]*>([^<]*)<\/h1>/.exec(html)?.[1];

  test.each([
    ["How many?", "How many?"],
    ["First line.\nSecond line.", "First line."],
    [`The disk is full. ${"It has been so for a while. ".repeat(6)}`, "The disk is full."],
    ["x".repeat(500), "x".repeat(500)],
  ])("has a heading that is not too long, %#", (message, expected) => {
    const html = pageOf(formOf({ type: "string" }), { message });
    expect(heading(html)).toBe(expected);
    // Nothing of it is lost.
    const shown = html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
    expect(shown).toContain(message.trim().replaceAll(/\s+/g, " "));
  });

  test("is escaped, and so is what it is about", () => {
    const message = "<img src=x onerror=alert(1)>";
    const html = pageOf(formOf({ type: "string" }), { message, about: { "<b>": "<i>" } });
    expect(html).not.toMatch(/<img|<b>|<i>/);
    expect(html).toContain("&lt;i>");
  });
});

test.each([
  [
    { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1 },
    "",
    "Please choose at least 1.",
  ],
  [
    { type: "array", items: { type: "string", enum: ["a", "b"] }, maxItems: 1 },
    "f.q=a&f.q=b",
    "Please choose at most 1.",
  ],
  [
    { type: "array", items: { type: "string", enum: ["a", "b"] } },
    "f.q=c",
    "Please choose from the list.",
  ],
  [{ type: "string", enum: ["a", "b"] }, "", "Please choose one."],
  [{ type: "string", enum: ["a", "b"] }, "f.q=c", "Please choose one of the list."],
  [{ type: "integer", minimum: 1 }, "f.q=0", "Please enter a whole number of at least 1."],
] as const)("a mistake in %j with %j is explained", (field, sent, error) => {
  expect(readForm(formOf(field), new URLSearchParams(sent)).errors).toEqual({ q: error });
});
