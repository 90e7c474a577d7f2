// docs/seeds.md, made of the rows, the printed messages and the titles of the tests; and what is wrong with the rows.

import { existsSync, readFileSync } from "node:fs";
import { requirements } from "../requirements/requirements.ts";
import { differences } from "./differences.ts";
import { printed } from "./golden.ts";
import type { Citation, Fate, Row } from "./rows/row.ts";
import { documents } from "./rows/index.ts";
import { loosenings, slips } from "./slips.ts";

/** The titles of the tests in a file, without the requirements in brackets at their end. */
export function titlesIn(source: string): string[] {
  const title = /(?:\btest(?:\.\w+)?|\))\(\s*(["'`])((?:\\.|(?!\1).)*)\1\s*,/g;
  return [...source.matchAll(title)].map(([, , text = ""]) =>
    text.replaceAll(/\\(["'`])/g, "$1").replace(/(?: \[[A-Z][\d.]+\])+$/, ""),
  );
}

const known = new Map<string, ReadonlySet<string>>();

function titlesOf(file: string): ReadonlySet<string> {
  const found =
    known.get(file) ?? new Set(existsSync(file) ? titlesIn(readFileSync(file, "utf8")) : []);
  known.set(file, found);
  return found;
}

/** Of one row, or none. */
export function problemsOf({ heading, says, fate, isOurs }: Row): string[] {
  const wrong = (what: string) => `“${says}” (${heading}) ${what}.`;
  if (isOurs && !("shown" in fate)) return [wrong("is ours, and no test shows it")];
  if ("shown" in fate) {
    if (fate.shown.length === 0) return [wrong("has no test, and no reason")];
    return fate.shown
      .filter(({ file, title }) => !titlesOf(file).has(title))
      .map(({ file, title }) => wrong(`cites a test that ${file} has not: “${title}”`));
  }
  const reason = "later" in fate ? fate.later : fate.superseded;
  if (reason === "") return [wrong("has no test, and no reason")];
  if ("later" in fate) return [];
  const [, references = ""] = /\(([^()]*)\)$/.exec(reason) ?? [];
  return references !== "" && references.split(", ").every(isKnown)
    ? []
    : [wrong("is superseded without saying by what that can be looked up")];
}

const numbers = new Set([...Object.keys(differences), ...requirements.map(({ id }) => id)]);

/** A difference, a requirement, or a proposal that became part of the specification. */
const isKnown = (reference: string) => numbers.has(reference) || /^SEP-\d{4}$/.test(reference);

export function problems(): string[] {
  const rows = documents.flatMap((document) => document.rows);
  const twice = rows
    .map(({ heading, says }) => `${heading}: ${says}`)
    .filter((text, index, all) => all.indexOf(text) !== index);
  return [...rows.flatMap(problemsOf), ...twice.map((text) => `There twice: ${text}`)];
}

// ---------------------------------------------------------------- the page

export function page(): string {
  const every = documents.flatMap(({ rows }) => rows);
  const all = every.filter(({ isOurs }) => !isOurs);
  const shown = all.filter(({ fate }) => "shown" in fate).length;
  return [
    "# What the documents say, and what shows it",
    "",
    "<!-- Written by `npm run seeds`; the rows are in test/seeds/rows/. -->",
    "",
    "Parley began with five documents on multi round-trip requests. Here is every statement in them that something must",
    "or can happen, in our words, with the test that shows it here, or why it is otherwise. F1 to F53 are explained at the",
    "end of this page; S1 and the like are requirements of MCP 2026-07-28 (test/requirements/requirements.ts). The draft's own",
    "form is played by test/seeds/draft.test.ts, the final form by test/seeds/final.test.ts.",
    "",
    `${all.length} statements: ${shown} shown by tests, ${all.length - shown} superseded or to come. What is marked “Here” is`,
    `no statement of theirs, but how it is here in its place, or as well; there are ${every.length - all.length} of these, each with its test.`,
    "",
    ...documents.flatMap(({ name, title, rows }) => [
      `## ${name}: ${title}`,
      "",
      ...sections(rows).flatMap(([heading, own]) => [
        `### ${name}, ${heading}`,
        "",
        ...own.map(
          ({ says, fate, isOurs }) => `- ${isOurs ? "Here: " : ""}${says}\n${inWords(fate)}`,
        ),
        "",
      ]),
    ]),
    "## Slips of the printed messages",
    "",
    "The messages are in test/golden/seeds. Those that are not JSON as they are printed are mended; all else that is not",
    "what its own document means is noted here, with what the tests take it for.",
    "",
    ...printed
      .filter(({ mended }) => mended.length > 0)
      .map(({ name, line, mended }) => `- ${name}, line ${line}: ${mended.join(", ")}.`),
    ...slips.map(({ message, slip, takenFor }) => `- ${message}: ${slip}; taken for ${takenFor}.`),
    "",
    "## Where the play is looser than the print",
    "",
    "In the draft's own form a whole result is held against the printed one. Tokens, ids and times are those of the",
    "running call. Besides them, and the slips, these are not taken at their word:",
    "",
    ...loosenings.map(({ what, messages, why }) => `- ${what} (${messages.join(", ")}): ${why}.`),
    "",
    "## What became otherwise",
    "",
    ...Object.entries(differences).map(([number, what]) => `- ${number}. ${what}`),
    "",
  ].join("\n");
}

function sections(rows: readonly Row[]): [string, Row[]][] {
  const found = new Map<string, Row[]>();
  for (const row of rows) found.set(row.heading, [...(found.get(row.heading) ?? []), row]);
  return [...found];
}

function inWords(fate: Fate): string {
  if ("shown" in fate) return fate.shown.map((one) => `  - ${link(one)}`).join("\n");
  return "later" in fate ? `  - Later: ${fate.later}.` : `  - Superseded: ${fate.superseded}.`;
}

const link = ({ file, title }: Citation) => `[${file}](../${file}): “${title}”`;
