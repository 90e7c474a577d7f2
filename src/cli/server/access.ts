// The options of every command that connects to a server, and what they mean for the connection.

import { pathToFileURL } from "node:url";
import type { ConnectOptions } from "../../client/index.ts";
import { stepsKey } from "../../protocol/steps.ts";
import { readDuration } from "../screen/amounts.ts";
import { UsageError } from "../command.ts";
import type { Io } from "../command.ts";
import { style } from "../screen/style.ts";
import type { Printer } from "../screen/printer.ts";
import type { Target } from "./target.ts";
import { environmentOf } from "./child-environment.ts";
import { connectTo } from "./connection.ts";
import type { ConnectedServer } from "./connection.ts";
import { legacyVersion, modernVersion } from "../../protocol/versions.ts";

/** For `parseOptions`. Each command adds its own. */
export const accessOptions = {
  header: { type: "string", multiple: true },
  token: { type: "string" },
  login: { type: "boolean" },
  as: { type: "string" },
  root: { type: "string", multiple: true },
  env: { type: "string", multiple: true },
  timeout: { type: "string" },
  verbose: { type: "boolean", short: "v" },
  json: { type: "boolean" },
} as const;

/** The part of `--help` that describes these options. */
export const accessHelp = `  --header 'name: value'   a header of every request; can be repeated
  --token TOKEN            a bearer token (or PARLEY_TOKEN)
  --login                  sign in with OAuth, in your browser
  --as KIND                act as another client: modern, legacy,
                           no-elicitation, no-tasks, chat
  --root DIR               a folder the server may ask for; can be repeated
  --env NAME[=VALUE]       a variable for a server that a command starts, which
                           otherwise gets only PATH, HOME and the like; can be
                           repeated
  --timeout TIME           how long to wait for the server: 30, 500ms, 5m; the
                           time you take to answer does not count
  -v, --verbose            show the log messages of a call, and what a server
                           that was started here prints
  --json                   print one JSON object on standard output
`;

/** The values of these options. */
export interface AccessValues {
  readonly header?: readonly string[] | undefined;
  readonly token?: string | undefined;
  readonly login?: boolean | undefined;
  readonly as?: string | undefined;
  readonly root?: readonly string[] | undefined;
  readonly env?: readonly string[] | undefined;
  readonly timeout?: string | undefined;
  readonly verbose?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Connects to the server, after a sign-in if --login was given. */
export async function openConnection(
  target: Target,
  options: ConnectOptions,
  values: AccessValues,
  printer: Printer,
  { env }: Io,
): Promise<ConnectedServer> {
  const onLog = (line: string) => {
    if (values.verbose === true) printer.line(style.dim(`   server: ${line}`));
  };
  const all = { ...options, onLog, env: environmentOf(target, values.env ?? [], env) };
  if (values.login !== true) return connectTo(target, all);
  const { signedIn } = await import("./login.ts");
  return signedIn(target, all, printer, env);
}

/** The value of --timeout in milliseconds. */
export function timeoutOf({ timeout }: AccessValues): number | undefined {
  if (timeout === undefined) return undefined;
  const ms = readDuration(timeout);
  if (ms !== undefined && ms > 0) return ms;
  throw new UsageError(`--timeout takes a time such as 30, 500ms or 5m, not "${timeout}".`);
}

const kinds = ["modern", "legacy", "no-elicitation", "no-tasks", "chat"] as const;

/** What the options mean for the client. */
export function accessOf(values: AccessValues, { env }: Io): ConnectOptions {
  const kind = kinds.find((one) => one === values.as);
  if (values.as !== undefined && kind === undefined) {
    throw new UsageError(`--as takes ${kinds.join(", ")}, not "${values.as}".`);
  }
  const timeoutMs = timeoutOf(values);
  return {
    name: "parley",
    meta: { [stepsKey]: true },
    headers: headersOf(values, env["PARLEY_TOKEN"]),
    // A person can see when to stop.
    limits: { rounds: 1_000, ...(timeoutMs !== undefined && { silenceMs: timeoutMs }) },
    ...(kind === "modern" && { era: modernVersion }),
    ...(kind === "legacy" && { era: legacyVersion }),
    ...(values.verbose === true && { logLevel: "debug" as const }),
    ...((kind === "no-tasks" || kind === "chat") && { tasks: false }),
    ...(kind !== "no-elicitation" &&
      kind !== "chat" && { elicit: "events" as const, sample: "events" as const }),
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
      throw new UsageError(`--header takes 'name: value', not "${line}".`);
    }
    return [name, value];
  });
  const bearer = token ?? tokenFromEnvironment;
  return bearer === undefined ? headers : [...headers, ["Authorization", `Bearer ${bearer}`]];
}
