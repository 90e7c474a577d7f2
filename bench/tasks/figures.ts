// What was measured: shown as it comes, kept for `--json`.

import { writeFileSync } from "node:fs";
import process from "node:process";

export interface Figure {
  readonly name: string;
  /** A median where there are several. */
  readonly value: number;
  /** From the lowest to the highest, as a share of the median. */
  readonly spread: number;
  readonly n: number;
}

export class Figures {
  readonly all: Figure[] = [];

  /** Keeps the median of the samples and gives it back. */
  readonly add = (name: string, ...samples: readonly number[]): Figure => {
    const value = median(samples);
    const spread =
      value === 0 ? 0 : (Math.max(...samples) - Math.min(...samples)) / Math.abs(value);
    const figure = { name, value, spread, n: samples.length };
    this.all.push(figure);
    return figure;
  };

  /** What must hold: otherwise the command fails in the end. */
  readonly bar = (name: string, value: number, limit: number): void => {
    const isMet = value <= limit;
    if (!isMet) process.exitCode = 1;
    console.log(`  ${isMet ? "ok    " : "MISSED"} ${name}: ${short(value)} (bar ${limit})`);
  };

  readonly write = (file: string): void =>
    writeFileSync(file, `${JSON.stringify({ figures: this.all }, null, 2)}\n`);
}

function median(of: readonly number[]): number {
  return quantile(of, 0.5);
}

export function quantile(of: readonly number[], share: number): number {
  const sorted = of.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Three digits that mean something. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const size = Math.abs(value);
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

export function shown({ value, spread }: Pick<Figure, "value" | "spread">): string {
  return `${short(value)} ±${(spread * 50).toFixed(0)}%`;
}

export function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join("   ")}`);
  }
}
