// Where things are: the compiled command, the compiled server file that the tests call, and the loader that runs a
// server file in TypeScript.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { scriptOf } from "../programs.ts";

export const main: string = scriptOf("src/cli/main.ts");
export const deskFile: string = scriptOf("test/cli/desk-server.ts");
/** Makes a TypeScript server file of the tests import the bundled library as "mcp-parley". */
export const tsconfig: string = join(dirname(main), "../../tsconfig.json");

/** Stands in for the person's home folder in the tests of one file. */
export const config: string = mkdtempSync(join(tmpdir(), "parley-config-"));
process.once("exit", () => rmSync(config, { recursive: true, force: true }));

const bin = join(config, "bin");
mkdirSync(bin);
writeFileSync(join(bin, "parley"), "", { mode: 0o755 });

/** The environment of a person who has the command on the PATH. The tests themselves are started by npm, most likely. */
export const installed: Readonly<Record<string, string>> = {
  PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}`,
  npm_command: "",
  npm_execpath: "",
  npm_lifecycle_event: "",
};
