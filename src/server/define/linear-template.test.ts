import { UriTemplate } from "@modelcontextprotocol/server";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LinearTemplate, longestUri } from "./linear-template.ts";

const expressions = [
  "{a}",
  "{b*}",
  "{c,d}",
  "{+e}",
  "{#f}",
  "{.g}",
  "{.h*}",
  "{/i}",
  "{/j*}",
  "{?k}",
  "{?l,m}",
  "{&n}",
  "{;o}",
  "{ p }",
];
const letters = ["a", "b", ",", "/", ".", "-", "&", "=", "?", ";", "\n", "%"];
const text = fc.string({ unit: fc.constantFrom(...letters), maxLength: 4 });
const part = fc.oneof(text, fc.constantFrom(...expressions));
const template = fc
  .array(part, { minLength: 1, maxLength: 6 })
  .map((parts) => `x:${parts.join("")}`);

describe("a URI template that matches in linear time", () => {
  it("matches what the SDK's matches, with the same values", () => {
    const uri = fc.string({ unit: fc.constantFrom(...letters), maxLength: 14 });
    fc.assert(
      fc.property(template, uri, (pattern, rest) => {
        const sdk = new UriTemplate(pattern).match(`x:${rest}`);
        expect(new LinearTemplate(pattern).match(`x:${rest}`)).toEqual(sdk);
      }),
      { numRuns: 5_000 },
    );
  });

  it("matches what the SDK's matches in URIs that are made from the template", () => {
    const value = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(template, fc.array(value, { minLength: 9 }), (pattern, values) => {
        let index = 0;
        const fill = () => values[index++ % values.length] ?? "";
        const uri = pattern.replaceAll(/\{([+#./?&]?)[^}]*\}/g, (_, operator: string) =>
          operator === "?" || operator === "&"
            ? `${operator}k=${fill()}`
            : `${/[./]/.test(operator) ? operator : ""}${fill()}`,
        );
        const sdk = new UriTemplate(pattern).match(uri);
        expect(new LinearTemplate(pattern).match(uri)).toEqual(sdk);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ["x:{a}-{b}-{c}", `x:${"-".repeat(3_000)}/`],
    ["x:{a}{b}{c}", `x:${"a".repeat(3_000)}/`],
    ["x:{+a}{+b}{+c}!", `x:${"a".repeat(3_000)}`],
    ["x:{a*}-{b*}-{c*}", `x:${"-,".repeat(1_500)}`],
    ["x:{?a}{&b}{&c}", `x:?a=${"?a=&b=".repeat(500)}`],
  ])("does not try every way to divide a URI: %s", (pattern, uri) => {
    const started = performance.now();
    expect(new LinearTemplate(pattern).match(uri)).toBeNull();
    // The SDK's needs 15 seconds and more for most of these.
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("matches no URI that is longer than the limit", () => {
    const longest = `x:${"a".repeat(longestUri - 2)}`;
    expect(new LinearTemplate("x:{a}").match(longest)).toEqual({ a: longest.slice(2) });
    expect(new LinearTemplate("x:{a}").match(`${longest}a`)).toBeNull();
  });

  it("refuses a template as the SDK's does", () => {
    expect(() => new LinearTemplate("x:{a")).toThrow("Unclosed template expression");
  });
});
