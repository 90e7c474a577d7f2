// Draws curves as an SVG: one panel each, logarithmic on both axes, readable on light and dark pages.

import { short } from "../figures.ts";
import { exponent } from "./curve.ts";
import type { Curve } from "./curve.ts";

const panel = { width: 360, height: 250, left: 56, right: 16, top: 44, bottom: 44 };
const columns = 2;

export function drawn(curves: readonly Curve[], about: string): string {
  const rows = Math.ceil(curves.length / columns);
  const [width, height] = [columns * panel.width, rows * panel.height + 24];
  const panels = curves.map((curve, at) => {
    const [x, y] = [(at % columns) * panel.width, Math.floor(at / columns) * panel.height];
    return `<g transform="translate(${x} ${y})">\n${panelOf(curve)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">${escaped(`How costs grow: ${curves.map(({ title }) => title).join("; ")}`)}</title>
<style>
  text { font: 11px system-ui, sans-serif; fill: #57606a; }
  .title { font-weight: 600; font-size: 13px; fill: #1f2328; }
  .axis { stroke: #8c959f; fill: none; }
  .grid { stroke: #d8dee4; }
  .linear { stroke: #8c959f; stroke-dasharray: 4 4; fill: none; }
  .line { stroke: #0969da; stroke-width: 2; fill: none; }
  .dot { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1; }
    .title { fill: #f0f6fc; }
    .grid { stroke: #30363d; }
    .line { stroke: #58a6ff; }
    .dot { fill: #58a6ff; }
  }
</style>
${panels.join("\n")}
<text x="12" y="${height - 8}">${escaped(`dashed: linear growth from the first point; ${about}`)}</text>
</svg>
`;
}

function panelOf({ title, x, y, points }: Curve): string {
  const { width, height, left, right, top, bottom } = panel;
  const [fromX, toX] = decades(points.map(([at]) => at));
  const [fromY, toY] = decades(points.map(([, cost]) => cost));
  const placeX = scale(fromX, toX, left, width - right);
  const placeY = scale(fromY, toY, height - bottom, top);
  const xs = powers(fromX, toX).map((at) => {
    const place = placeX(at).toFixed(1);
    return `<line class="grid" x1="${place}" x2="${place}" y1="${top}" y2="${height - bottom}"/>
<text x="${place}" y="${height - bottom + 14}" text-anchor="middle">${tick(at)}</text>`;
  });
  const ys = powers(fromY, toY).map((at) => {
    const place = placeY(at);
    return `<line class="grid" x1="${left}" x2="${width - right}" y1="${place.toFixed(1)}" y2="${place.toFixed(1)}"/>
<text x="${left - 6}" y="${(place + 4).toFixed(1)}" text-anchor="end">${tick(at)}</text>`;
  });
  const placed = points.map(([at, cost]) => [placeX(at).toFixed(1), placeY(cost).toFixed(1)]);
  const dots = placed.map(([cx, cy], index) => {
    const [at = 0, cost = 0] = points[index] ?? [];
    return `<circle class="dot" cx="${cx}" cy="${cy}" r="3"><title>${at}: ${short(cost)}</title></circle>`;
  });
  return [
    `<text class="title" x="12" y="18">${escaped(title)}</text>`,
    `<text x="12" y="33">${escaped(`${y}; n to the power of ${exponent(points).toFixed(2)}`)}</text>`,
    ...xs,
    ...ys,
    `<path class="axis" d="M${left} ${top}V${height - bottom}H${width - right}"/>`,
    linear(points, placeX, placeY, top),
    `<polyline class="line" points="${placed.map((one) => one.join(",")).join(" ")}"/>`,
    ...dots,
    `<text x="${(left + width - right) / 2}" y="${height - 12}" text-anchor="middle">${escaped(x)}</text>`,
  ].join("\n");
}

type Place = (value: number) => number;

/** What linear growth from the first point would be, as far as it fits. */
function linear([first]: Curve["points"], placeX: Place, placeY: Place, top: number): string {
  if (first === undefined) return "";
  const [x, y] = [placeX(first[0]), placeY(first[1])];
  const perDecade = { x: placeX(10) - placeX(1), y: placeY(10) - placeY(1) };
  const right = panel.width - panel.right;
  const far = Math.min((right - x) / perDecade.x, (top - y) / perDecade.y);
  const end = [x + far * perDecade.x, y + far * perDecade.y].map((one) => one.toFixed(1));
  return `<path class="linear" d="M${x.toFixed(1)} ${y.toFixed(1)}L${end.join(" ")}"/>`;
}

/** The powers of ten around these values, at least one decade apart. */
function decades(values: readonly number[]): readonly [number, number] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  return [low, Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))];
}

const powers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at));

const scale =
  (from: number, to: number, start: number, end: number): Place =>
  (value) =>
    start + ((Math.log10(value) - from) / (to - from)) * (end - start);

const tick = (value: number) =>
  value >= 1_000_000
    ? `${value / 1_000_000} M`
    : value >= 1_000
      ? `${value / 1_000} k`
      : String(Number(value.toPrecision(1)));

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
