// Writes test/golden/<version>/ for the version in package.json. Run it once for each release; existing files are kept.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { packEntry } from "../src/replay/journal.ts";
import { newKey, parseKeys } from "../src/token/keyring.ts";
import { sealTicket } from "../src/token/ticket.ts";
import { serveGolden } from "../test/golden/file.ts";
import type { GoldenCall, GoldenFile, GoldenLeg } from "../test/golden/file.ts";
import { writeGoldenTasks } from "../test/golden/tasks.ts";
import { goldenArguments, goldenJournal, goldenScript, goldenTools } from "../test/golden/tools.ts";

const folder = `test/golden/${process.env["npm_package_version"]}`;
if (existsSync(folder))
  throw new Error(`${folder} exists already. Golden files are never rewritten.`);

const key = newKey("golden");
const now = Date.UTC(2026, 0, 1);
const calls: GoldenCall[] = [];
for (const { name } of goldenTools) {
  const call = { tool: name, principal: "issuer|ada", arguments: goldenArguments[name] ?? {} };
  const legs: GoldenLeg[] = [];
  let leg: Omit<GoldenLeg, "answer"> | undefined = {};
  while (leg !== undefined) {
    const answer = await serveGolden({ key, now }, call, leg);
    legs.push({ ...leg, answer });
    leg = undefined;
    if (answer.kind !== "input_required") break;
    const { inputRequests = {}, requestState } = answer.result;
    const answers = Object.keys(inputRequests).map((one) => [one, goldenScript[name]?.[one] ?? {}]);
    leg = { requestState, inputResponses: Object.fromEntries(answers) };
  }
  calls.push({ ...call, legs });
}
const ticket = sealTicket(
  {
    kind: "url",
    callId: "golden-call",
    key: "sign-in",
    principal: "issuer|ada",
    audience: "golden",
    expiresAt: now + 600_000,
  },
  parseKeys(key),
);
mkdirSync(folder, { recursive: true });
const journal = goldenJournal.map(packEntry);
const file: GoldenFile = { key, now, ticket, journal, calls };
writeFileSync(`${folder}/rounds.json`, `${JSON.stringify(file, undefined, 2)}\n`);
await writeGoldenTasks(folder, key);
console.log(
  `${folder}/rounds.json: ${calls.length} calls, ${calls.flatMap(({ legs }) => legs).length} rounds`,
);
