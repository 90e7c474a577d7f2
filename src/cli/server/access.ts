// How a server is reached, as it is typed: the options that every command with a server takes.

import { pathToFileURL } from "node:url";
import type { ConnectOptions } from "../../client/index.ts";
import { stepsKey } from "../../protocol/steps.ts";
import { readDuration } from "../screen/amounts.ts";
import { Usage } from "../command.ts";
import type { Io } from "../command.ts";
import { style } from "../screen/style.ts";
import type { Talk } from "../screen/talk.ts";
import type { Place } from "./place.ts";
import { reach } from "./reach.ts";
import type { Reached } from "./reach.ts";

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

export function timeoutOf({ timeout }: AccessValues): number | undefined {
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
    meta: { [stepsKey]: true },
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
