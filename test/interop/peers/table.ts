// The table of docs/interop.md, made from the transcripts.

import { readFileSync, writeFileSync } from "node:fs";
import { deviations, explains } from "./deviations.ts";
import { lenientOf, transcripts } from "./transcript.ts";
import type { Direction, Transcript } from "./transcript.ts";

const page = new URL("../../../docs/interop.md", import.meta.url);
const start = "<!-- made by npm run interop: do not edit -->";
const end = "<!-- end of what npm run interop makes -->";

const rows: readonly (readonly [string, string])[] = [
  ["plain", "a call that asks nothing"],
  ["form", "a form"],
  ["declined", "a form that is declined"],
  ["rounds", "several rounds"],
  ["together", "a form and sampling in one round"],
  ["roots", "roots"],
  ["roots-bare", "roots, asked without `params`"],
  ["url", "a page (URL mode)"],
  ["prompt", "a prompt that asks"],
  ["resource", "a resource that asks"],
  ["progress", "progress"],
  ["stream", "a stream"],
  ["stream-line", "a stream, as progress"],
  ["state-only", "a round without questions"],
  ["task", "a task"],
  ["task-asks", "a task that asks"],
  ["task-after-round", "a question, then a task"],
  ["task-push", "a task that is pushed"],
  ["task-cancel", "a task that is cancelled"],
  ["legacy-plain", "2025-11-25: a call that asks nothing"],
  ["legacy-form", "2025-11-25: a form"],
  ["legacy-rounds", "2025-11-25: several questions"],
  ["legacy-url", "2025-11-25: a page (URL mode)"],
  ["legacy-stream", "2025-11-25: a stream"],
  ["tutorial-greet", "its tutorial, §2 and §9: one question"],
  ["tutorial-state", "its tutorial, §2: the state comes back"],
  ["tutorial-together", "its tutorial, §2: three kinds in one round"],
  ["tutorial-sampling", "its tutorial, §3: sampling"],
  ["tutorial-roots", "its tutorial, §3: roots"],
  ["tutorial-incapable", "its tutorial, §4: a client without capabilities"],
  ["tutorial-progress", "its tutorial, §5: progress"],
  ["tutorial-quiet", "its tutorial, §6: no progress from a task"],
  ["tutorial-rounds", "its tutorial, §9: two rounds"],
  ["tutorial-wrong-key", "its tutorial, §9: a wrong key"],
  ["tutorial-task", "its tutorial, §8 and §10: a question, then a task"],
  ["tutorial-altered", "its tutorial, §11: a state that was altered"],
];

/** A tutorial has rows only where it was done. */
const isShown = (all: readonly Transcript[], capability: string) =>
  !capability.startsWith("tutorial-") || all.some((one) => one.capability === capability);

const columns: readonly (readonly [Direction, string])[] = [
  ["to-parley", "its client → Parley"],
  ["connect", "`connect` → its server"],
  ["with-tasks", "`withTasks` → its server"],
];

const words: Readonly<Record<Exclude<Transcript["verdict"], "fails">, string>> = {
  works: "✓",
  earlier: "✓ on 2025-11-25",
  "in the request": "✓ in the request",
  polled: "✓ by polling",
  whole: "✓ as a whole",
  "no tasks": "no tasks",
  "no push": "no push",
};

function cell(all: readonly Transcript[], direction: Direction, capability: string): string {
  const run = all.find((one) => one.direction === direction && one.capability === capability);
  if (run === undefined) return "";
  if (run.verdict !== "fails") return words[run.verdict];
  const number = deviations.findIndex((one) => explains(one, run));
  if (number === -1) {
    throw new Error(`${run.peer}, ${direction}, ${capability} is not explained in deviations.ts.`);
  }
  const isServed = all.some(
    (one) => one.capability === lenientOf(capability) && one.verdict === "works",
  );
  return `[✗ ${number + 1}](#deviation-${number + 1})${isServed ? ", ✓ lenient" : ""}`;
}

function tableOf(peer: string, all: readonly Transcript[]): string[] {
  const [{ version } = { version: "" }] = all;
  const cells = [
    ["", ...columns.map(([, heading]) => heading)],
    ...rows
      .filter(([capability]) => isShown(all, capability))
      .map(([capability, what]) => [
        what,
        ...columns.map(([direction]) => cell(all, direction, capability)),
      ]),
  ];
  const widths = [0, 1, 2, 3].map((at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  const [heading = "", ...lines] = cells.map(
    (row) => `| ${row.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [`### ${peer} ${version}`, "", heading, rule, ...lines, ""];
}

function made(): string {
  const all = transcripts();
  const peers = [...new Set(all.map(({ peer }) => peer))];
  const explained = deviations.flatMap((one, at) => [
    `### Deviation ${at + 1}`,
    "",
    `**${one.title}.** ${one.instead}`,
    "",
    `- Rule: ${one.rule}`,
    one.reproduction.startsWith("{")
      ? `- To reproduce it, answer \`tools/call\` with \`${one.reproduction}\`.`
      : `- To reproduce it: ${one.reproduction}`,
    `- Report: ${one.report}`,
    "",
  ]);
  return [
    start,
    "",
    "## Results",
    "",
    ...peers.flatMap((peer) =>
      tableOf(
        peer,
        all.filter((one) => one.peer === peer),
      ),
    ),
    "## Deviations",
    "",
    ...explained,
    end,
  ].join("\n");
}

/** The page as it is, and as it has to be. */
export function pageAndMade(): { readonly is: string; readonly hasToBe: string } {
  const is = readFileSync(page, "utf8");
  const before = is.slice(0, is.indexOf(start));
  const after = is.slice(is.indexOf(end) + end.length);
  return { is, hasToBe: `${before}${made()}${after}` };
}

export function writeTable(): void {
  const { is, hasToBe } = pageAndMade();
  if (is !== hasToBe) writeFileSync(page, hasToBe);
}
