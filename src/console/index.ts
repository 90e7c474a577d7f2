// mcp-parley/console: what operators and developers see of an app in their browser.

export { operatorConsole } from "./operator-console.ts";
export type { ConsoleOptions } from "./operator-console.ts";
export type { Operator } from "./operator.ts";
export type { App } from "../server/app.ts";
export type { WebHandler } from "../server/http/web-handler.ts";
