// The page that holds the console: a static shell, its script and its style, under a policy that allows nothing else.

import { textHash } from "../token/text-hash.ts";
import { pageFiles } from "./page-files.ts";
import type { Refusal } from "./refusal.ts";

// A host that takes the prefix off does not say whether the address ended with a slash. Relative addresses need it.
const addSlash =
  'if(!location.pathname.endsWith("/"))location.replace(location.pathname+"/"+location.search+location.hash)';

const refusedStyle =
  "body{margin:0;min-height:100vh;display:grid;place-items:center;font:16px/1.5 system-ui,sans-serif;background:light-dark(#f4f5f7,#0f1114);color:light-dark(#16181d,#e8eaee)}main{box-sizing:border-box;width:min(28rem,100% - 2rem);padding:1.5rem;border:1px solid light-dark(#d9dce3,#2b2f36);border-radius:8px;background:light-dark(#fff,#16181d)}h1{margin:0 0 .5rem;font-size:1.25rem}p{margin:0}:root{color-scheme:light dark}";

const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${textHash(addSlash)}'`,
  `style-src 'self' 'sha256-${textHash(refusedStyle)}'`,
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const headers = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
} as const;

const html = (body: string, status: number): Response =>
  new Response(body, {
    status,
    headers: {
      ...headers,
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
    },
  });

const head =
  '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark"><title>Console</title>';

/** The shell. The script puts everything into it. */
export const shell = (): Response =>
  html(
    `${head}<script>${addSlash}</script><link rel="icon" href="data:,"><link rel="stylesheet" href="page.css"><script type="module" src="page.js"></script><body><div id="console"></div><noscript>The console needs JavaScript.</noscript></body></html>\n`,
    200,
  );

/** For someone who may not see the console, and so not its style either. */
export const refusedPage = ({ message, status }: Refusal): Response =>
  html(
    `${head}<style>${refusedStyle}</style><body><main><h1>Console</h1><p>${escaped(message)}</p></main></body></html>\n`,
    status,
  );

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const types: Readonly<Record<string, string>> = {
  "/page.js": "text/javascript; charset=utf-8",
  "/page.css": "text/css; charset=utf-8",
};

/** The script or the style. Undefined for any other path. */
export async function staticFile(
  pathname: string,
  request: Request,
): Promise<Response | undefined> {
  const type = Object.hasOwn(types, pathname) ? types[pathname] : undefined;
  if (type === undefined) return undefined;
  const { packed, plain, tag } = await pageFiles(pathname === "/page.js" ? "js" : "css");
  const caching = { etag: tag, "cache-control": "no-cache", vary: "accept-encoding" };
  if (request.headers.get("if-none-match") === tag) {
    return new Response(null, { status: 304, headers: caching });
  }
  const all = { ...headers, ...caching, "content-type": type };
  // Browsers accept Brotli over HTTPS and from this machine only.
  if (!/\bbr\b/.test(request.headers.get("accept-encoding") ?? "")) {
    return new Response(await plain(), { headers: all });
  }
  return new Response(packed, { headers: { ...all, "content-encoding": "br" } });
}
