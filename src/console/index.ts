// mcp-parley/console: what operators and developers see of an app in their browser.

import { consoleByDefault } from "../server/dev/console-by-default.ts";
import { operatorConsole } from "./operator-console.ts";

// `parley dev` loads this entry before the server file.
const { PARLEY_DEV_CONSOLE: session, NODE_ENV: mode } = process.env;
if (session !== undefined && mode !== "production") consoleByDefault((app) => operatorConsole(app));

export { operatorConsole };
export type { ConsoleOptions } from "./operator-console.ts";
export type { Operator } from "./operator.ts";
