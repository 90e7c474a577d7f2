// Keeps what was measured, for the tables, `--json` and `--markdown`.

import { writeFileSync } from "node:fs";

export interface Figure {
  readonly name: string;
  /** The median, if there are several samples. */
  readonly value: number;
  /** The width of the middle half of the samples, as a share of the median. */
  readonly spread: number;
  readonly n: number;
}

interface Bar {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly isMet: boolean;
}

export class Figures {
  readonly all: Figure[] = [];
  readonly bars: Bar[] = [];

  /** Keeps the median of the samples and returns it. */
  readonly add = (name: string, ...samples: readonly number[]): Figure => {
    const value = quantile(samples, 0.5);
    const spread =
      value === 0 ? 0 : (quantile(samples, 0.75) - quantile(samples, 0.25)) / Math.abs(value);
    const figure = { name, value, spread, n: samples.length };
    this.all.push(figure);
    return figure;
  };

  /** Divides each sample by the one that was taken in the same round. */
  readonly ratio = (name: string, of: readonly number[], by: readonly number[]): Figure =>
    this.add(name, ...of.map((value, round) => value / (by[round] ?? Number.NaN)));

  readonly atMost = (name: string, value: number, limit: number): void =>
    this.#bar({ name, value, limit, isMet: value <= limit });

  readonly atLeast = (name: string, value: number, limit: number): void =>
    this.#bar({ name, value, limit, isMet: value >= limit });

  readonly write = (file: string): void =>
    writeFileSync(file, `${JSON.stringify({ figures: this.all }, null, 2)}\n`);

  #bar(bar: Bar): void {
    this.bars.push(bar);
    const { name, value, limit, isMet } = bar;
    console.log(`  ${isMet ? "ok    " : "MISSED"} ${name}: ${short(value)} (limit ${limit})`);
  }
}

export function median(of: readonly number[]): number {
  return quantile(of, 0.5);
}

/** Interpolates between two samples. */
export function quantile(of: readonly number[], share: number): number {
  const sorted = of.toSorted((one, other) => one - other);
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}

/** Least squares. R² is the share of the spread that the line explains: 1 is a straight line. */
export function fitted(points: readonly (readonly [number, number])[]): {
  readonly base: number;
  readonly slope: number;
  readonly r2: number;
} {
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const xy = mean(points.map(([x, y]) => (x - meanX) * (y - meanY)));
  const xx = mean(points.map(([x]) => (x - meanX) ** 2));
  const yy = mean(points.map(([, y]) => (y - meanY) ** 2));
  const slope = xy / xx;
  return { slope, base: meanY - slope * meanX, r2: xy ** 2 / (xx * yy) };
}

function mean(of: readonly number[]): number {
  return of.reduce((sum, each) => sum + each, 0) / of.length;
}

/** With three significant digits. */
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
