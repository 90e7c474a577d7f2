// The environment of a server that is started here. The command of a server is often another person's program, so it
// gets what every program needs, and nothing secret unless the person names it. A server file gets the same environment
// as under `node`.

import { UsageError } from "../command.ts";
import type { Io } from "../command.ts";
import type { Target } from "./target.ts";

/** What programs need to find each other, their user and their language, on any system. */
const basic = new Set(
  (
    "HOME LANG LANGUAGE LOGNAME PATH SHELL TERM TMPDIR TZ USER " +
    "NODE_EXTRA_CA_CERTS SSL_CERT_DIR SSL_CERT_FILE " +
    "XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME " +
    "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMDATA PROGRAMFILES " +
    "SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE"
  ).split(" "),
);

/** On Windows, the names of variables have no fixed case. */
const isBasic = (name: string) => basic.has(name.toUpperCase()) || name.startsWith("LC_");

/** The variables for a server. `named` are the values of --env: NAME, or NAME=value. */
export function environmentOf(
  { kind }: Pick<Target, "kind">,
  named: readonly string[],
  env: Io["env"],
): Record<string, string> {
  const isPassed = kind === "command" ? isBasic : isForServers;
  const passed = Object.entries(env).filter(([name]) => isPassed(name));
  return Object.fromEntries(
    [...passed, ...named.map((word) => variable(word, env))].flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

/** The token is for the servers that this command calls, not for the programs that it starts. */
const isForServers = (name: string) => name !== "PARLEY_TOKEN";

function variable(word: string, env: Io["env"]): [string, string] {
  const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(word) ?? [];
  if (name === undefined) {
    throw new UsageError(`--env takes NAME or NAME=value, not "${word}".`);
  }
  const found = value ?? env[name];
  if (found === undefined) throw new UsageError(`--env ${name}: the variable is not set.`);
  return [name, found];
}
