// docs/dashboard.json asks for metrics by the names that OpenTelemetry's Prometheus exporter gives them. If a metric
// were renamed, its panel would stay empty without an error.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const source = read("src/server/ops/telemetry-metrics.ts");
const guide = read("docs/operate.md");

/** Each metric by its name in Prometheus: dots become underscores, and a counter ends in `_total`. */
function exported(): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const add = (pattern: RegExp, suffixes: readonly string[]) => {
    for (const [, name = ""] of source.matchAll(pattern)) {
      for (const suffix of suffixes) names.set(name.replaceAll(".", "_") + suffix, name);
    }
  };
  add(/createCounter\(\s*"([\w.]+)"/g, ["_total"]);
  add(/(?:createHistogram\(|durations\(\s*meter,)\s*"([\w.]+)"/g, ["_bucket", "_count", "_sum"]);
  add(/name: "([\w.]+)"/g, [""]);
  return names;
}

const known = exported();
const dashboard = read("docs/dashboard.json");
const asked = [...new Set(dashboard.match(/\b(?:parley|mcp)_[a-z_]+(?=\{|,)/g))];

test("every metric that the dashboard asks for exists", () => {
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((name) => !known.has(name))).toEqual([]);
});

test("the dashboard shows every metric, and the guide names it", () => {
  const shown = new Set(asked.map((name) => known.get(name)));
  const all = [...new Set(known.values())];
  expect(all.filter((name) => !shown.has(name))).toEqual([]);
  expect(all.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});
