// Checks the layers of the source: what may import what, no cycles, no two files with one name, no long file without a reason.

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { layers } from "./layers.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const source = join(root, "src");

const every = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
  /\.tsx?$/.test(file),
);
/** The files that are shipped. */
const files = every.filter((file) => !/\.(test|test-d|fixture)\.ts$/.test(file));

const read = (file: string) => readFileSync(join(source, file), "utf8");

/** Specifiers of imports, re-exports and dynamic imports, of types as well as of values. */
const imports = (file: string) =>
  [...read(file).matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    ([, specifier = ""]) => specifier,
  );

/** The files of src that a file imports, relative to src. */
const importedFiles = (file: string) =>
  imports(file)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => relative(source, join(source, dirname(file), specifier)));

const layerOf = (file: string) => (file.includes(sep) ? (file.split(sep)[0] ?? "") : "");

test("every folder of src is a layer", () => {
  const folders = new Set(files.map(layerOf).filter((folder) => folder !== ""));
  expect([...folders].toSorted()).toEqual(Object.keys(layers).toSorted());
});

describe.each(Object.entries(layers))("src/%s", (layer, { mayImport }) => {
  const own = files.filter((file) => layerOf(file) === layer);

  test(`imports ${mayImport.join(", ") || "nothing"}`, () => {
    const foreign = own.flatMap((file) =>
      importedFiles(file)
        .filter(
          (target) => target !== "errors.ts" && ![layer, ...mayImport].includes(layerOf(target)),
        )
        .map((target) => `${file} → ${target}`),
    );
    expect(foreign).toEqual([]);
  });

  test("has no two files of the same name", () => {
    const found = new Map<string, string[]>();
    for (const file of own) {
      const name = basename(file);
      if (name !== "index.ts") found.set(name, [...(found.get(name) ?? []), file]);
    }
    expect([...found.values()].filter((same) => same.length > 1)).toEqual([]);
  });
});

test("nothing in src imports from outside of src", () => {
  const outside = every.flatMap((file) =>
    importedFiles(file)
      .filter((target) => target.startsWith(".."))
      .map((target) => `${file} → ${target}`),
  );
  // Fixtures and tests of src may share helpers with test/.
  expect(outside.filter((line) => !/\.(test|test-d|fixture)\.ts →/.test(line))).toEqual([]);
});

test("no files import each other in a cycle, not even for types", () => {
  // Files that `parley init` writes are quoted in the source, imports included: they are not files of src.
  const known = new Set(files);
  const next = (file: string) => importedFiles(file).filter((target) => known.has(target));
  expect(circles(files, next)).toEqual([]);
});

test("a cycle is found", () => {
  const graph: Record<string, string[]> = { a: ["b"], b: ["c"], c: ["b", "d"], d: [] };
  expect(circles(Object.keys(graph), (file) => graph[file] ?? [])).toEqual([["b", "c"]]);
});

test("a file of more than 400 lines says at its top why it is long", () => {
  const long = files.filter((file) => {
    const lines = read(file).split("\n");
    return (
      lines.length > 401 &&
      !lines.slice(0, 10).some((line) => /^\/\/ Long on purpose: \S/.test(line))
    );
  });
  expect(long).toEqual([]);
});

test("the engine is pure: it uses no package, clock, process or randomness", () => {
  const impure = files
    .filter((file) => layerOf(file) === "replay")
    .flatMap((file) => {
      const packages = imports(file).filter((specifier) => !specifier.startsWith("."));
      const code = read(file).replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
      const globals = code.match(
        /\b(process\.|setTimeout\(|setImmediate\(|Date\.|new Date\(|performance\.|Math\.random|crypto\.|fetch\(|console\.)/g,
      );
      return [...packages, ...(globals ?? [])].map((what) => `${file}: ${what}`);
    });
  // turns.ts is how Node's event loop reaches the engine, through its carrier.
  expect(impure.filter((line) => !line.startsWith(`replay${sep}turns.ts`))).toEqual([]);
});

test("the console's page imports only what runs in a browser", () => {
  const page = join("console", "page");
  const allowed = ["ui", "util", "protocol"];
  const foreign = files
    .filter((file) => file.startsWith(page + sep))
    .flatMap((file) => importedFiles(file).map((target) => [file, target] as const))
    .filter(
      ([, target]) =>
        !target.startsWith(page + sep) &&
        target !== join("console", "wire.ts") &&
        !allowed.includes(layerOf(target)),
    );
  expect(foreign).toEqual([]);
});

test("only src/token does crypto", () => {
  const users = files.filter((file) => imports(file).includes("node:crypto"));
  expect(users.filter((file) => layerOf(file) !== "token")).toEqual([]);
});

/** Files that can reach each other, one list for each circle (Tarjan's strongly connected components). */
function circles(all: readonly string[], next: (file: string) => readonly string[]): string[][] {
  const found: string[][] = [];
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): number => {
    numbers.set(file, numbers.size);
    lowest.set(file, numbers.get(file)!);
    stack.push(file);
    for (const target of next(file)) {
      const reached = !numbers.has(target)
        ? visit(target)
        : stack.includes(target)
          ? numbers.get(target)!
          : Infinity;
      lowest.set(file, Math.min(lowest.get(file)!, reached));
    }
    if (lowest.get(file) === numbers.get(file)) {
      const circle = stack.splice(stack.indexOf(file));
      if (circle.length > 1) found.push(circle.toSorted());
    }
    return lowest.get(file)!;
  };
  for (const file of all) if (!numbers.has(file)) visit(file);
  return found;
}
