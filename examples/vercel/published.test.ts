// What Vercel would publish of the example, and of a folder that follows docs/vercel.md.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const example = import.meta.dirname;
const page = readFileSync(join(example, "../../docs/vercel.md"), "utf8");

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => statSync(join(folder, file)).isFile())
        .map((file) => file.replaceAll("\\", "/"))
        .toSorted()
    : [];

/**
 * The rule of `vercel build` for a project without a framework: it publishes what is in `public`. If nothing is there, it
 * publishes everything that is not a function.
 */
function published(folder: string): readonly string[] {
  const open = filesIn(join(folder, "public"));
  return open.length > 0 ? open : filesIn(folder).filter((file) => !file.startsWith("api/"));
}

/** The files that the page writes with `printf`, by name. */
const written = new Map(
  [...page.matchAll(/^printf '%s\\n' (.+) > (\S+)$/gm)].map(([, words = "", file = ""]) => {
    const lines = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
    return [file, `${lines.join("\n")}\n`];
  }),
);

test("only a file that anyone may read is published", () => {
  expect(published(example)).toEqual(["robots.txt"]);
});

test.each(["public/robots.txt", ".vercelignore"])(
  "the commands of the page make %s as it is in the example",
  (file) => {
    expect(written.get(file)).toBe(readFileSync(join(example, file), "utf8"));
  },
);

test.each([".vercelignore", ".gitignore"])(
  "%s of the page names calls, secrets and logs",
  (file) => {
    expect(written.get(file)?.split("\n")).toEqual(
      expect.arrayContaining([".parley", ".env*", "*.log"]),
    );
  },
);

test("a deployment stops if there is no such file", () => {
  const { buildCommand, outputDirectory } = JSON.parse(
    readFileSync(join(example, "vercel.json"), "utf8"),
  );
  expect(buildCommand).toBe("ls public/robots.txt");
  expect(outputDirectory).toBe("public");
});
