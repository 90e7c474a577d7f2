// @hono/node-server, typed by hand: its declarations need the browser's library, which this project does not use.

import type { Server } from "node:http";

interface HonoNodeServer {
  readonly serve: (options: {
    readonly fetch: (request: Request) => Response | Promise<Response>;
    readonly port: number;
    readonly hostname: string;
  }) => Server;
}

// A variable, because the compiler follows a literal.
const name: string = "@hono/node-server";
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as its documentation has it
export const { serve } = (await import(name)) as HonoNodeServer;
