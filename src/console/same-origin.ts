// Where a request comes from. These checks come first, because they cost nothing and no page elsewhere passes them.

import { Refusal } from "./refusal.ts";

/** Throws for a request that another site has sent, and for a POST that a plain form could send. */
export function checkOrigin(request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  if (site !== null && site !== "same-origin" && site !== "none") throw crossSite();
  // A browser that does not send the first header sends this one with every POST, and with requests from elsewhere.
  if (site === null && origin !== null && hostIn(origin) !== hostOf(request)) throw crossSite();
  if (request.method !== "POST") return;
  if (site === null && origin === null && request.headers.has("cookie")) throw crossSite();
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new Refusal(415, "invalid", "Send JSON, with the content type application/json.");
  }
}

const crossSite = () =>
  new Refusal(403, "cross_site", "This request comes from another site, so it is refused.");

/** Throws unless the request names this machine. A page that points its own name here (DNS rebinding) does not. */
export function checkLoopback(request: Request): void {
  const address = `http://${hostOf(request)}`;
  if (!URL.canParse(address)) {
    throw new Refusal(400, "invalid", "The Host header of this request is not the name of a host.");
  }
  if (["localhost", "127.0.0.1", "[::1]"].includes(new URL(address).hostname)) return;
  throw new Refusal(
    403,
    "not_loopback",
    "In development the console is for this machine only. Open it at 127.0.0.1 or localhost, or pass operatorConsole(app, { authorize }).",
  );
}

/** The host that the request is for, with its port. */
export const hostOf = (request: Request): string =>
  (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();

const hostIn = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;
