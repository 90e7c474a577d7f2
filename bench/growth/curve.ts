// How a cost grows with one size.

import { fitted, short, table } from "../figures.ts";
import type { Figures } from "../figures.ts";

export interface Curve {
  /** Part of the names of its figures. */
  readonly name: string;
  readonly title: string;
  /** What grows, and what it costs. */
  readonly x: string;
  readonly y: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** Keeps the points and the exponent as figures, and prints them. */
export function keep(figures: Figures, curve: Curve): void {
  const { name, title, x, y, points } = curve;
  for (const [at, cost] of points) figures.add(`growth/${name}, ${at}`, cost);
  const power = figures.add(`growth/${name} exponent`, exponent(points)).value;
  console.log(`\n  ${title}`);
  table([[x, y], ...points.map(([at, cost]) => [String(at), short(cost)])]);
  console.log(`  grows like n to the power of ${power.toFixed(2)} (1 is linear)`);
}

/**
 * The slope of a straight line through the logarithms: 1 is linear, 2 is quadratic. Only the larger half counts, because a
 * fixed cost hides the growth of small sizes.
 */
export function exponent(points: Curve["points"]): number {
  const larger = points.slice(-Math.max(3, Math.ceil(points.length / 2)));
  return fitted(larger.map(([x, y]) => [Math.log(x), Math.log(y)])).slope;
}
