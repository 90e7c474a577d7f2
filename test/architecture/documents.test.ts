// The documents name files, links and error codes that exist.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(join(root, file), "utf8");
const documentsIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));

const documents = [
  ...[".", "docs", "examples", "bench"].flatMap(documentsIn),
  "src/draft/README.md",
];

const repository = "https://github.com/mcp-parley/parley/blob/main/";

/** GitHub's anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

const anchorsIn = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

describe.each(documents)("%s", (document) => {
  const text = read(document);
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);

  test("links to files and headings that exist", () => {
    const broken = links
      .filter((link) => link.startsWith(repository) || !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = "", anchor] = link.replace(repository, "").split("#");
        const folder = link.startsWith(repository) ? "" : dirname(document);
        const target = path === "" ? document : join(folder, path);
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !anchorsIn(read(target)).includes(anchor);
      });
    expect(broken).toEqual([]);
  });
});

test("links in the README also work outside the repository", () => {
  const links = [...read("README.md").matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  expect(links.filter((link) => !link.startsWith("https://"))).toEqual([]);
});

test.each(["ARCHITECTURE.md", "CONTRIBUTING.md"])(
  "%s names files and folders that exist",
  (document) => {
    const named = [
      ...read(document).matchAll(/`((?:[\w.-]+\/)+(?:[\w.-]+\.(?:ts|md))?|[\w./-]+\.ts)`/g),
    ];
    const missing = named
      .map(([, path = ""]) => path)
      .filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, "src", path)));
    expect(missing).toEqual([]);
  },
);

test.each([
  ["src/errors.ts", "ParleyErrorCode"],
  ["src/client/errors.ts", "CallErrorCode"],
])("every code of %s is explained in docs/troubleshooting.md", (file, type) => {
  const [, union = ""] = new RegExp(`type ${type} =([\\s\\S]*?);\\n`).exec(read(file)) ?? [];
  const codes = [...union.matchAll(/\| "(\w+)"/g)].map(([, code = ""]) => code);
  expect(codes.length).toBeGreaterThan(10);
  const explained = read("docs/troubleshooting.md");
  expect(codes.filter((code) => !explained.includes(`| \`${code}\``))).toEqual([]);
});

test("CONTRIBUTING.md says why each dependency is there", () => {
  const manifest: Readonly<Record<string, Readonly<Record<string, string>> | undefined>> =
    JSON.parse(read("package.json"));
  const names = ["dependencies", "devDependencies", "peerDependencies"].flatMap((kind) =>
    Object.keys(manifest[kind] ?? {}),
  );
  const text = read("CONTRIBUTING.md");
  const isNamed = (name: string) =>
    [name, name.replace(/\/.*$/, "/*")].some((form) => text.includes(`\`${form}\``));
  expect(names.filter((name) => !isNamed(name))).toEqual([]);
});

test("examples/README.md lists every example", () => {
  const folders = readdirSync(join(root, "examples")).filter((name) =>
    statSync(join(root, "examples", name)).isDirectory(),
  );
  const index = read("examples/README.md");
  expect(folders.filter((folder) => !index.includes(`](${folder}`))).toEqual([]);
});
