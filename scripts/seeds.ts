// Writes docs/seeds.md, which says of every statement of the documents this project began with which test shows it.
// `--check` writes nothing, and fails when a row has no test and no reason, cites a test that is not there, or the page
// is not what it would be.

import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { page, problems } from "../test/seeds/page.ts";

const file = "docs/seeds.md";
const wrong = problems();
if (!process.argv.includes("--check")) writeFileSync(file, page());
else if (readFileSync(file, "utf8") !== page()) wrong.push(`${file} is out of date: npm run seeds`);
for (const line of wrong) console.error(line);
console.log(
  `seeds: ${wrong.length === 0 ? "every statement has its test or its reason" : `${wrong.length} wrong`}`,
);
if (wrong.length > 0) process.exitCode = 1;
