// @hono/node-server with types written by hand, because its own need the DOM library, which this project does not use.

import type { Server } from "node:http";

interface HonoNodeServer {
  readonly serve: (options: {
    readonly fetch: (request: Request) => Response | Promise<Response>;
    readonly port: number;
    readonly hostname: string;
  }) => Server;
}

// The name is in a variable because the compiler would resolve a literal.
const name: string = "@hono/node-server";
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as its documentation has it
export const { serve } = (await import(name)) as HonoNodeServer;
