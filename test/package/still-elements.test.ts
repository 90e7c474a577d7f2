// Pages in the package are rendered without preact. They have to be the same, character by character.

import { build } from "esbuild";
import type { Plugin } from "esbuild";
import fc from "fast-check";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/package.ts";
import { withoutPreact } from "../../scripts/without-preact.ts";
import type { ApprovalProps } from "../../src/ui/approval-form.ts";
import type { AskProps } from "../../src/ui/ask-form.ts";

interface Pages {
  askPage(props: AskProps & { readonly note?: string }): string;
  approvalPage(props: ApprovalProps): string;
  messagePage(...of: readonly [string, string, string, { href: string; text: string }?]): string;
}

async function bundled(plugins: Plugin[]): Promise<Pages & { readonly code: string }> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    write: false,
    plugins,
    stdin: {
      contents: `export { askPage, messagePage } from "./src/ui/page.ts";
        export { approvalPage } from "./src/ui/approval-form.ts";`,
      resolveDir: root,
      loader: "ts",
    },
  });
  const code = outputFiles.map(({ text }) => text).join("");
  const pages: Pages = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return { ...pages, code };
}

const [still, usual] = await Promise.all([
  bundled([withoutPreact(join(root, "src"))]),
  bundled([]),
]);

/** Texts with everything that HTML treats specially. */
const text = fc.string({
  unit: fc.constantFrom(
    "a",
    "b",
    "&",
    "<",
    ">",
    '"',
    "'",
    "`",
    "=",
    "/",
    " ",
    "\n",
    "é",
    "😀",
    "ש",
  ),
  maxLength: 12,
});
const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const choices = fc.uniqueArray(text, { minLength: 1, maxLength: 9 });
const titled = choices.map((all) => all.map((one) => ({ const: one, title: `${one}!` })));
const words = { title: optional(text), description: optional(text) };
const field = fc.oneof(
  fc.record({
    type: fc.constant("string"),
    ...words,
    format: optional(fc.constantFrom("email", "uri", "date", "date-time")),
    maxLength: optional(fc.constantFrom(0, 20, 500)),
    minLength: optional(fc.nat(3)),
  }),
  fc.record({ type: fc.constant("string"), ...words, enum: choices }),
  fc.record({ type: fc.constant("string"), ...words, oneOf: titled }),
  fc.record({ type: fc.constant("boolean"), ...words }),
  fc.record({ type: fc.constantFrom("integer", "number"), ...words, minimum: optional(fc.nat(9)) }),
  fc.record({ type: fc.constant("array"), ...words, items: fc.record({ enum: choices }) }),
  fc.record({ type: fc.constant("array"), ...words, items: fc.record({ anyOf: titled }) }),
);
const names = ["q", "shipTo_name", "__proto__x"] as const;
const perName = <T>(one: fc.Arbitrary<T>) =>
  fc.dictionary(fc.constantFrom(...names), one, { noNullPrototype: true });
const input = fc.oneof(
  fc.record({
    kind: fc.constant("form"),
    form: fc.record({
      type: fc.constant("object"),
      properties: perName(field),
      required: fc.subarray([...names]),
    }),
    questionKey: optional(fc.constant("q")),
    values: perName(fc.oneof(text, fc.nat(), fc.boolean(), fc.array(text, { maxLength: 2 }))),
    errors: perName(text),
  }),
  fc.record({
    kind: fc.constant("json"),
    schema: optional(
      fc.constant({ type: "object", $schema: "https://json-schema.org/draft/2020-12/schema" }),
    ),
    text,
    error: optional(text),
  }),
);
const about = optional(
  fc.dictionary(text, fc.oneof(text, fc.nat(), fc.boolean()), { noNullPrototype: true }),
);

test("preact is not in the pages of the package", () => {
  expect(usual.code).toContain("node_modules/preact");
  expect(still.code).not.toContain("node_modules/preact");
});

test("the page of any question is the same", () => {
  const props = fc.record({
    from: text,
    message: fc.oneof(text, fc.constant("A long question. ".repeat(12))),
    about,
    input,
    canDecline: optional(fc.boolean()),
    isSecret: optional(fc.boolean()),
    error: optional(text),
    idPrefix: optional(fc.constant("a-")),
    note: optional(text),
  });
  fc.assert(
    fc.property(props, (given) => {
      const one = given as unknown as AskProps;
      expect(still.askPage(one)).toBe(usual.askPage(one));
    }),
    { numRuns: 500 },
  );
});

test("the page of any approval, and any message, is the same", () => {
  const decision = fc.record({
    who: text,
    isApproved: fc.boolean(),
    at: fc.constant(new Date(1_800_000_000_000)),
    note: optional(text),
  });
  const props = fc.record({
    from: text,
    message: text,
    about,
    decisions: fc.array(decision, { maxLength: 3 }),
    needs: optional(fc.nat(3)),
    form: optional(fc.record({ digest: text, mostNote: fc.nat() })),
    error: optional(text),
  });
  const link = optional(fc.record({ href: text, text }));
  fc.assert(
    fc.property(props, text, link, (given, said, to) => {
      expect(still.approvalPage(given)).toBe(usual.approvalPage(given));
      const message = [given.from, said, given.message, ...(to === undefined ? [] : [to])] as const;
      const of = message as unknown as Parameters<Pages["messagePage"]>;
      expect(still.messagePage(...of)).toBe(usual.messagePage(...of));
    }),
    { numRuns: 300 },
  );
});
