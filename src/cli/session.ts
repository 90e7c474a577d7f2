// What `call`, `resume`, `tasks` and `list` have in common: options, a connection, somebody to talk to, and Ctrl-C.

import { pathToFileURL } from "node:url";
import process from "node:process";
import type { ConnectOptions } from "../client/index.ts";
import { readDuration } from "./amounts.ts";
import { Calls, defaultFolder } from "./calls.ts";
import { Usage } from "./command.ts";
import type { Io } from "./command.ts";
import type { Driver } from "./drive.ts";
import { GivenAnswers } from "./given-answers.ts";
import type { Place } from "./place.ts";
import { reach } from "./reach.ts";
import type { Reached } from "./reach.ts";
import { style } from "./style.ts";
import { Talk } from "./talk.ts";

/** For `parsed`; each command adds its own. */
export const accessOptions = {
  header: { type: "string", multiple: true },
  token: { type: "string" },
  login: { type: "boolean" },
  as: { type: "string" },
  root: { type: "string", multiple: true },
  timeout: { type: "string" },
  verbose: { type: "boolean" },
  json: { type: "boolean" },
} as const;

const ownCallOptions = {
  answers: { type: "string" },
  answer: { type: "string", multiple: true },
  journal: { type: "string" },
  "no-journal": { type: "boolean" },
  "no-input": { type: "boolean" },
  quiet: { type: "boolean" },
} as const;

export const callOptions: typeof accessOptions & typeof ownCallOptions = {
  ...accessOptions,
  ...ownCallOptions,
};

export const accessHelp = `  --header 'name: value'   sent with every request; may be repeated
  --token TOKEN            a bearer token (or PARLEY_TOKEN)
  --login                  signs in through the server's OAuth, in your browser
  --as KIND                acts as another client: modern, legacy,
                           no-elicitation, no-tasks
  --root DIR               a folder the server may ask for; may be repeated
  --timeout TIME           of the server alone: 30, 500ms, 5m
  --verbose                shows what a server that is started here prints
  --json                   one JSON object on standard output
`;

export interface AccessValues {
  readonly header?: readonly string[] | undefined;
  readonly token?: string | undefined;
  readonly login?: boolean | undefined;
  readonly as?: string | undefined;
  readonly root?: readonly string[] | undefined;
  readonly timeout?: string | undefined;
  readonly verbose?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export interface CallValues extends AccessValues {
  readonly answers?: string | undefined;
  readonly answer?: readonly string[] | undefined;
  readonly journal?: string | undefined;
  readonly "no-journal"?: boolean | undefined;
  readonly "no-input"?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

export interface Session extends Reached {
  readonly calls: Calls;
  readonly driver: Driver;
  readonly timeoutMs: number | undefined;
  readonly isJson: boolean;
}

export function folderIn(values: CallValues): string {
  return values.journal ?? defaultFolder;
}

export function talkOf({ err }: Io, isQuiet = false): Talk {
  const { isTTY, columns } = process.stderr;
  const isTerminal = isTTY && process.env["TERM"] !== "dumb";
  // Elsewhere than on a terminal nothing has to fit.
  const width = isTTY ? columns || 80 : 10_000;
  return new Talk({ write: isQuiet ? () => {} : err, isTerminal, columns: width });
}

export async function openSession(place: Place, values: CallValues, io: Io): Promise<Session> {
  const talk = talkOf(io, values.quiet);
  const folder = values["no-journal"] === true ? undefined : folderIn(values);
  const calls = new Calls(place, folder, (text) => talk.line(style.yellow(text)));
  const given = new GivenAnswers(values.answers, values.answer ?? []);
  const timeoutMs = timeoutOf(values);
  const interrupt = interruption();
  const reached = await opened(place, { ...accessOf(values, io), journal: calls }, values, talk);
  const isInteractive = io.isInteractive && values["no-input"] !== true;
  const driver = { talk, given, isInteractive, interrupt };
  return { ...reached, calls, driver, timeoutMs, isJson: values.json ?? false };
}

export async function opened(
  place: Place,
  options: ConnectOptions,
  values: AccessValues,
  talk: Talk,
): Promise<Reached> {
  const onLog = (line: string) => {
    if (values.verbose === true) talk.line(style.dim(`   server: ${line}`));
  };
  const all = { ...options, onLog };
  if (values.login !== true) return reach(place, all);
  const { signedIn } = await import("./login.ts");
  return signedIn(place, all, talk);
}

/** Once: the second Ctrl-C ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => {
    // Behind the ^C that the terminal shows.
    if (process.stderr.isTTY) process.stderr.write("\n");
    controller.abort();
  });
  return controller.signal;
}

function timeoutOf({ timeout }: AccessValues): number | undefined {
  if (timeout === undefined) return undefined;
  const ms = readDuration(timeout);
  if (ms !== undefined && ms > 0) return ms;
  throw new Usage(`--timeout takes a time such as 30, 500ms or 5m, not "${timeout}".`);
}

const kinds = ["modern", "legacy", "no-elicitation", "no-tasks"] as const;

export function accessOf(values: AccessValues, { env }: Io): ConnectOptions {
  const kind = kinds.find((one) => one === values.as);
  if (values.as !== undefined && kind === undefined) {
    throw new Usage(`--as takes ${kinds.join(", ")}, not "${values.as}".`);
  }
  const timeoutMs = timeoutOf(values);
  return {
    name: "parley",
    headers: headersOf(values, env["PARLEY_TOKEN"]),
    // A person can tell when it is enough.
    limits: { rounds: 1_000, ...(timeoutMs !== undefined && { silenceMs: timeoutMs }) },
    ...(kind === "modern" && { era: "2026-07-28" as const }),
    ...(kind === "legacy" && { era: "2025-11-25" as const }),
    ...(kind === "no-tasks" && { tasks: false }),
    ...(kind !== "no-elicitation" && { elicit: "events" as const, sample: "events" as const }),
    ...(values.root !== undefined && {
      roots: values.root.map((folder) => ({ uri: pathToFileURL(folder).href })),
    }),
  };
}

function headersOf(
  { header = [], token }: AccessValues,
  tokenFromEnvironment: string | undefined,
): [string, string][] {
  const headers = header.map((line): [string, string] => {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new Usage(`--header takes 'name: value', and "${line}" is not.`);
    }
    return [name, value];
  });
  const bearer = token ?? tokenFromEnvironment;
  return bearer === undefined ? headers : [...headers, ["Authorization", `Bearer ${bearer}`]];
}
