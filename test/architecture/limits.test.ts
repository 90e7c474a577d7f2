// docs/limits.md says what is limited. Its tables have every limit that the code has, with the same defaults.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { limitsOf } from "../../src/client/limits.ts";
import { longestUri } from "../../src/server/define/linear-template.ts";
import { mostUnread } from "../../src/server/round/client-parts.ts";
import { afterResponseMs } from "../../src/server/tasks/after-response.ts";
import { checkedLimits } from "../../src/server/limits.ts";
import { defaultTaskLimits } from "../../src/tasks/limits.ts";

const text = readFileSync(fileURLToPath(new URL("../../docs/limits.md", import.meta.url)), "utf8");

/** The rows of the table under a heading: the name in back quotes, if there is one, and the second cell. */
function rowsUnder(heading: string): readonly (readonly [name: string, cell: string])[] {
  const [, section = ""] = text.split(`## ${heading}\n`);
  const table = section.split(/^##+ /m)[0] ?? "";
  return table.split("\n").flatMap((line) => {
    const [, first = "", cell = "", what = ""] = line.split("|").map((part) => part.trim());
    if (what === "" || /^-+$/.test(what) || first === "limit" || first === "what") return [];
    return [[/`(\w+)`/.exec(first)?.[1] ?? "", cell] as const];
  });
}

const units: Readonly<Record<string, number>> = {
  KiB: 1_024,
  MiB: 1_024 ** 2,
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 24 * 3_600_000,
};

/** The value that a cell stands for, such as "11 minutes" or "10,000". */
function valueOf(cell: string): number | boolean {
  if (cell === "false") return false;
  const [figure = "", unit] = cell.split(" ");
  const size = unit === undefined ? 1 : units[unit.replace(/s$/, "")];
  if (size === undefined) throw new Error(`docs/limits.md has an unknown unit: ${cell}`);
  return Number(figure.replaceAll(",", "")) * size;
}

const table = (heading: string): Record<string, number | boolean> =>
  Object.fromEntries(rowsUnder(heading).map(([name, cell]) => [name, valueOf(cell)]));

test("the table of a server's limits has each of them with its default", () => {
  expect(table("Limits of a server")).toEqual(checkedLimits({}));
});

test("the table of a client's limits has each of them with its default", () => {
  expect(table("Limits of a client")).toEqual(limitsOf());
});

test("the fixed limits that are named there have the values of the code", () => {
  const named = rowsUnder("Limits that are fixed").filter(([name]) => name !== "");
  const { keepMs, fruitlessClaims, drainMs } = defaultTaskLimits;
  expect(Object.fromEntries(named.map(([name, cell]) => [name, valueOf(cell)]))).toEqual({
    keepMs,
    fruitlessClaims,
    drainMs,
    afterResponseMs,
    longestUri,
    mostUnread,
  });
});
