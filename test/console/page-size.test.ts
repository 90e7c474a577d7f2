// The page of the console is small, and can be run under a policy that forbids scripts made of text.

import { brotliDecompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { packedPage } from "../../src/console/packed-page.ts";

test("the page weighs at most 60 kB, compressed with gzip", async () => {
  const { js, css } = await packedPage();
  const weigh = (packed: Uint8Array) => gzipSync(brotliDecompressSync(packed)).length;
  expect(weigh(js)).toBeGreaterThan(10_000);
  expect(weigh(css)).toBeGreaterThan(1000);
  expect(weigh(js) + weigh(css)).toBeLessThanOrEqual(60_000);
});

test("the page names no other site", async () => {
  const { js, css } = await packedPage();
  const text = [js, css].map((packed) => brotliDecompressSync(packed).toString("utf8")).join("");
  const sites = new Set(text.match(/https?:\/\/[\w.-]+/g));
  // The names of the namespaces that SVG and MathML have.
  expect([...sites]).toEqual(["http://www.w3.org"]);
});
