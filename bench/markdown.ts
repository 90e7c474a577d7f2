// The tables of bench/README.md.

import { short } from "./figures.ts";
import type { Figure } from "./figures.ts";

const rows: readonly (readonly [label: string, name: string])[] = [
  ["plain `tools/call` ÷ bare `node:http`", "plain/fast÷bare"],
  ["… ÷ the official `createMcpHandler`", "plain/fast÷sdk"],
  ["… ÷ tmcp", "plain/fast÷tmcp"],
  ["… ÷ SDK v1", "plain/fast÷sdkv1"],
  ["… ÷ Parley over the SDK (`fast: false`)", "plain/fast÷oversdk"],
  ["a leg of a two-round call ÷ bare", "tworound/fast÷bare"],
  ["… ÷ the official SDK, state signed", "tworound/fast÷sdk"],
  ["… ÷ tmcp, state in the clear", "tworound/fast÷tmcp"],
  ["… with its schema created in every run ÷ bare", "tworound-inline/fast÷bare"],
  ["a leg of five rounds ÷ bare", "fiverounds/fast÷bare"],
  ["four questions in a round ÷ bare", "fourquestions/fast÷bare"],
  ["a journal of 1 KiB ÷ bare", "journal1k/fast÷bare"],
  ["a journal of 16 KiB ÷ bare", "journal16k/fast÷bare"],
  ["a resource that asks ÷ bare", "resource/fast÷bare"],
  ["a handler that asks nothing ÷ the same function without the engine", "wrapped÷unwrapped"],
];

const shares: readonly (readonly [label: string, name: string])[] = [
  ["token work ÷ a round's processor time", "token/share"],
  ["the 200th round ÷ the first, processor time", "rounds/200÷1 cpu"],
  ["cold start to first response ÷ bare", "coldstart/shipped÷bare"],
  ["… of the official SDK ÷ bare", "coldstart/sdk÷bare"],
  ["installed size ÷ the official SDK", "size/parley÷sdk"],
  ["resident memory, 100 000 calls ÷ 25 000", "memory/fast 100k÷25k"],
  ["the first part of a stream ÷ the first byte of bare SSE", "streaming/first part, fast÷bare"],
  ["10 000 pieces, ten a turn, pieces a second ÷ bare SSE", "streaming/ten a turn, fast÷bare"],
  ["… one a turn", "streaming/one a turn, fast÷bare"],
  ["a task's piece to a reader elsewhere, p95 ÷ allowed", "streaming/tasks, p95÷allowed"],
  ["other tasks beside streams ÷ alone", "streaming/other tasks, beside÷alone"],
  ["takeover after `kill -9`, SQLite ÷ lease", "recovery/sqlite÷lease"],
  ["… Postgres ÷ lease", "recovery/postgres÷lease"],
];

/** The second column has the processor time of each request, if it was measured. */
export function markdown(figures: readonly Figure[], machine: string): string {
  const byName = new Map(figures.map((figure) => [figure.name, figure]));
  const cell = (name: string) => {
    const figure = byName.get(name);
    if (figure === undefined) return "";
    const spread = figure.n < 2 ? "" : ` ± ${(figure.spread * 50).toFixed(0)} %`;
    return `${short(figure.value)}${spread}`;
  };
  const isThere = ([, name]: readonly [string, string]) => byName.has(name);
  const lines = [
    `${machine}; 16 connections; medians, ± half the width of the middle half`,
    "",
    "| the fast entry | requests a second | processor time each |",
    "| --- | ---: | ---: |",
    ...rows
      .filter(isThere)
      .map(([label, name]) => `| ${label} | ${cell(name)} | ${cell(`${name} cpu`)} |`),
    "",
    "| | |",
    "| --- | ---: |",
    ...shares.filter(isThere).map(([label, name]) => `| ${label} | ${cell(name)} |`),
  ];
  return lines.join("\n");
}
