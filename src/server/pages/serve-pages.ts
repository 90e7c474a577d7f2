// The way to the pages. What shows them is loaded when the first one is visited.

import type { Core } from "../core.ts";
import { webHandler } from "../http/web-handler.ts";
import type { WebHandler } from "../http/web-handler.ts";
import type { Doorkeeping } from "./visitors.ts";

/** The handler of all pages, and which paths are its own. */
export interface Pages {
  readonly handler: WebHandler;
  readonly isOwn: (pathname: string) => boolean;
}

/** Makes the handler. */
export function pagesOf(core: Core, door: Doorkeeping): Pages {
  const ticketIn = (pathname: string): string | undefined => {
    // A host may have taken the path of the public address off already.
    const base = core.publicUrl()?.pathname.replace(/\/$/, "") ?? "";
    const below = pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
    return /^\/ask\/([^/]+)$/.exec(below)?.[1];
  };
  return {
    isOwn: (pathname) => ticketIn(pathname) !== undefined,
    handler: webHandler((request) => {
      const ticket = ticketIn(new URL(request.url).pathname);
      if (ticket === undefined) return undefined;
      return import("./pages.ts").then(({ servePage }) => servePage(core, door, request, ticket));
    }),
  };
}
