// Who may import whom. The folders are the architecture; this holds them to it.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const source = fileURLToPath(new URL("../../src/", import.meta.url));

/** Besides itself, errors.ts and packages. */
const mayImport: Record<string, readonly string[]> = {
  util: [],
  protocol: ["util"],
  draft: ["util", "protocol"],
  client: ["util", "protocol"],
  replay: ["util"],
  token: ["util"],
  tasks: ["util", "replay"],
  server: ["util", "protocol", "replay", "token", "tasks"],
  testing: ["util", "protocol", "replay", "token", "tasks", "server"],
  cli: ["util", "protocol", "replay", "token", "tasks", "server", "client"],
};

const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
  (file) => file.endsWith(".ts") && !/\.(test|test-d|fixture)\.ts$/.test(file),
);

const imports = (file: string) =>
  [...readFileSync(join(source, file), "utf8").matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(
    ([, specifier = ""]) => specifier,
  );

const folderOf = (file: string) => (file.includes(sep) ? (file.split(sep)[0] ?? "") : "");

test("every folder of src has a place in the order", () => {
  const folders = new Set(files.map(folderOf).filter((folder) => folder !== ""));
  expect([...folders].toSorted()).toEqual(Object.keys(mayImport).toSorted());
});

describe.each(Object.entries(mayImport))("src/%s", (folder, below) => {
  const own = files.filter((file) => folderOf(file) === folder);

  test(`imports of ours only ${below.join(", ") || "nothing"}`, () => {
    const foreign = own.flatMap((file) =>
      imports(file)
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => relative(source, join(source, dirname(file), specifier)))
        .filter(
          (target) => target !== "errors.ts" && ![folder, ...below].includes(folderOf(target)),
        )
        .map((target) => `${file} → ${target}`),
    );
    expect(foreign).toEqual([]);
  });
});

test("the engine is pure: no package, no clock, no process, no chance", () => {
  const impure = files
    .filter((file) => folderOf(file) === "replay")
    .flatMap((file) => {
      const packages = imports(file).filter((specifier) => !specifier.startsWith("."));
      const code = readFileSync(join(source, file), "utf8").replaceAll(
        /^\s*(\/\/|\*|\/\*).*$/gm,
        "",
      );
      const globals = code.match(
        /\b(process\.|setTimeout\(|setImmediate\(|Date\.|new Date\(|performance\.|Math\.random|crypto\.|fetch\(|console\.)/g,
      );
      return [...packages, ...(globals ?? [])].map((what) => `${file}: ${what}`);
    });
  // turns.ts is how Node's event loop reaches the engine, through its hooks.
  expect(impure.filter((line) => !line.startsWith(`replay${sep}turns.ts`))).toEqual([]);
});

test("crypto is done in token/ alone", () => {
  const users = files.filter((file) => imports(file).includes("node:crypto"));
  expect(users.filter((file) => folderOf(file) !== "token")).toEqual([]);
});
