// Extracts the JSON messages of the five documents that the project began with, and writes them to test/golden/seeds/.
// A message that is not valid JSON as printed is repaired, and the repair is noted beside it.
//
// Usage: npx tsx scripts/seeds-extract.ts <folder with the documents>

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { messagesIn } from "../test/seeds/printed.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined)
  throw new Error(
    "Name the folder that has the documents: npx tsx scripts/seeds-extract.ts <folder>",
  );
const target = "test/golden/seeds";
mkdirSync(target, { recursive: true });
for (const file of readdirSync(folder).toSorted()) {
  const [, name = ""] = /^(\d{3})_\w+\.txt$/.exec(file) ?? [];
  if (name === "") continue;
  const messages = messagesIn(name, readFileSync(join(folder, file), "utf8"));
  const mended = messages.filter(({ mended: how }) => how.length > 0).length;
  console.log(`${name}: ${messages.length} messages, ${mended} of them repaired`);
  if (messages.length === 0) continue;
  writeFileSync(join(target, `${name}.json`), `${JSON.stringify(messages, undefined, 2)}\n`);
}
