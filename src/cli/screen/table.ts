// Rows in columns, under a header.

import { widthOf } from "./printer.ts";

/** A line for each row. Columns are two spaces apart, and the last one is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(cell));
  }
  const padded = (cell: string, at: number) =>
    `${cell}${" ".repeat((widths[at] ?? 0) - widthOf(cell))}`;
  return rows.map((row) => `${row.map(padded).join("  ").trimEnd()}\n`).join("");
}
