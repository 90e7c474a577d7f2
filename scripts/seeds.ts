// Writes test/seeds/README.md, which lists every statement of the documents this project began with and the test that
// shows it. With `--check` it writes nothing, and fails if a row has neither a test nor a reason, if a row cites a test that
// does not exist, or if the page is out of date.

import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { page, problems } from "../test/seeds/page.ts";

const file = "test/seeds/README.md";
const wrong = problems();
if (!process.argv.includes("--check")) writeFileSync(file, page());
else if (readFileSync(file, "utf8") !== page())
  wrong.push(`${file} is out of date. Run: npm run seeds`);
for (const line of wrong) console.error(line);
console.log(
  `seeds: ${wrong.length === 0 ? "every statement has a test or a reason" : `${wrong.length} problems`}`,
);
if (wrong.length > 0) process.exitCode = 1;
