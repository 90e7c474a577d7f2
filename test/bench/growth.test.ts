// The benchmark's curves: how growth is judged, and how it is drawn.

import { expect, test } from "vitest";
import { exponent } from "../../bench/growth/curve.ts";
import { drawn } from "../../bench/growth/svg.ts";

const sizes = [1, 10, 100, 1_000, 10_000];
const points = (cost: (size: number) => number) => sizes.map((size) => [size, cost(size)] as const);

test("the exponent tells linear growth from quadratic, in spite of a fixed cost", () => {
  expect(exponent(points((size) => 7 * size))).toBeCloseTo(1);
  expect(exponent(points((size) => 0.5 * size * size))).toBeCloseTo(2);
  expect(exponent(points(() => 3))).toBeCloseTo(0);
  // Over all points this would look linear.
  expect(exponent(points((size) => 1_000 + size * size))).toBeGreaterThan(1.4);
});

test("a drawing has every curve, with its points inside the panel", () => {
  const curve = { name: "a", title: "Rounds & <more>", x: "rounds", y: "ms" };
  const svg = drawn(
    [
      { ...curve, points: points((size) => size) },
      { ...curve, title: "Flat", points: points(() => 2) },
    ],
    "a machine",
  );
  expect(svg).toContain("Rounds &amp; &lt;more&gt;");
  expect(svg).toContain("prefers-color-scheme: dark");
  expect(svg.match(/<polyline/g)).toHaveLength(2);
  const places = [...svg.matchAll(/cx="([\d.]+)" cy="([\d.]+)"/g)];
  expect(places).toHaveLength(2 * sizes.length);
  for (const [, x, y] of places) {
    expect(Number(x)).toBeLessThanOrEqual(360);
    expect(Number(y)).toBeLessThanOrEqual(250);
  }
  expect(svg).not.toContain("NaN");
});
