// Where things are: the command and the server file that it is tried with, both compiled, and what runs a server file in
// TypeScript.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { scriptOf } from "../programs.ts";

export const main: string = scriptOf("src/cli/main.ts");
export const deskFile: string = scriptOf("test/cli/desk-server.ts");
/** What a TypeScript server file of the tests imports as "mcp-parley" is the source. */
export const tsconfig: string = join(import.meta.dirname, "../../tsconfig.json");

/** The person's own folder, for the tests of one file. */
export const config: string = mkdtempSync(join(tmpdir(), "parley-config-"));
process.once("exit", () => rmSync(config, { recursive: true, force: true }));
