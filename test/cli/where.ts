// Where things are: the command's source, the server file that it is tried with, and what runs both.

import { join } from "node:path";

export const main: string = join(import.meta.dirname, "../../src/cli/main.ts");
export const deskFile: string = join(import.meta.dirname, "desk-server.ts");
export const tsx: string = import.meta.resolve("tsx");
/** What a server file of the tests imports as "mcp-parley" is the source. */
export const tsconfig: string = join(import.meta.dirname, "../../tsconfig.json");
