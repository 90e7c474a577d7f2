// A client that answers its questions, records its events, and kills itself at one of them. With an unfinished call in
// its journal it continues that call, and otherwise starts one.

import { appendFileSync } from "node:fs";
import process from "node:process";
import type { InputResponse } from "@modelcontextprotocol/client";
import { connect } from "../../src/client/index.ts";
import type { OpenQuestion } from "../../src/client/index.ts";

const { URL_OF_SERVER = "", JOURNAL = "", LEDGER = "", TOOL = "", DIES_AT } = process.env;

const write = (what: string) => appendFileSync(LEDGER, `${what}\n`);

const connection = await connect(URL_OF_SERVER, { elicit: "events", journal: JOURNAL });
const [left] = await connection.unfinished();
if (left !== undefined) write(`resumes ${left.phase}`);
const call = left === undefined ? connection.start(TOOL) : connection.resume(left.ref);
let events = 0;
for await (const event of call) {
  if (event.type === "progress" || event.type === "log" || event.type === "part") continue;
  events += 1;
  switch (event.type) {
    case "asked":
      write(`asked ${event.questions.map(({ key }) => key).join(" ")}`);
      break;
    case "answered":
      write(`answered ${event.key}`);
      break;
    case "withdrawn":
      write(`withdrawn ${event.key}`);
      break;
    case "task":
      write("task");
      break;
    case "done":
      write(`done ${event.result.text}`);
      break;
  }
  if (DIES_AT === String(events)) process.kill(process.pid, "SIGKILL");
  if (event.type === "asked") {
    for (const question of event.questions) void call.answer(question.key, answer(question));
  }
}
await connection.close();
process.stdout.write("end\n", () => process.exit(0));

function answer({ key }: OpenQuestion): InputResponse {
  return { action: "accept", content: { [key]: key.toUpperCase() } };
}
