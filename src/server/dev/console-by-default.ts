// `parley dev` gives a server file a console that it does not ask for: it loads mcp-parley/console before the file, which
// leaves here how to make one. Nothing else of the server knows the console.

import type { WebHandler } from "../http/web-handler.ts";

type Make = (app: never) => WebHandler;

let make: Make | undefined;

/** From now on, apps that listen on this machine without a console get this one. */
export function consoleByDefault(given: Make): void {
  make = given;
}

/** The console of an app that was given none. */
export function defaultConsole(app: object, isLocal: boolean): WebHandler | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `parley()` made it
  return isLocal ? make?.(app as never) : undefined;
}
