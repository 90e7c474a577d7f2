// The way to the pages. What shows them comes with the store, and is loaded when the first one is visited.

import type { Core } from "../core.ts";
import { webHandler } from "../http/web-handler.ts";
import type { WebHandler } from "../http/web-handler.ts";
import { storeParts } from "../store-parts.ts";
import type { Doorkeeping } from "./visitors.ts";

/** The handler of all pages, and which paths are its own. */
export interface Pages {
  readonly handler: WebHandler;
  readonly isOwn: (pathname: string) => boolean;
}

const ticketIn = (path: string): string | undefined => /^\/ask\/([^/]+)$/.exec(path)?.[1];

/** Makes the handler. */
export function pagesOf(core: Core, door: Doorkeeping): Pages {
  const below = (pathname: string): string => {
    // A host may have taken the path of the public address off already.
    const base = core.publicUrl()?.pathname.replace(/\/$/, "") ?? "";
    return pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname;
  };
  const isSignIn = (path: string): boolean =>
    path.startsWith("/oauth/") && core.accounts() !== undefined;
  return {
    isOwn: (pathname) => ticketIn(below(pathname)) !== undefined || isSignIn(below(pathname)),
    handler: webHandler((request, passed) => {
      const path = below(new URL(request.url).pathname);
      if (isSignIn(path)) return core.accounts()?.serve(request, path);
      const ticket = ticketIn(path);
      const parts = storeParts();
      if (ticket === undefined || parts === undefined) return undefined;
      return core.following("app.pages", passed, async () => {
        const { servePage } = await parts.loadPages();
        return servePage(core, door, request, ticket);
      });
    }),
  };
}
