// Which addresses a sign-in may use. A server names the addresses of pages and tokens, on any host. Its own origin and
// https addresses are allowed. An address on this machine is allowed only for a server on this machine.

import type { FetchLike } from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import { plainLine } from "../screen/plain.ts";

const isHere = ({ hostname }: URL) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/** Throws if the address is not allowed for this server. */
export function checkSafe(href: string, server: URL): void {
  const url = new URL(href);
  const isSafe =
    url.origin === server.origin ||
    (isHere(url) ? isHere(server) && /^https?:$/.test(url.protocol) : url.protocol === "https:");
  if (isSafe) return;
  throw new CallError(
    "refused",
    `The server wants you to sign in at ${plainLine(href)}, which is not safe. Only https addresses on another machine are allowed.`,
  );
}

/** A `fetch` that refuses addresses which are not allowed for this server. */
export function safeFetch(server: URL): FetchLike {
  return async (url, init) => {
    checkSafe(String(url), server);
    return fetch(url, init);
  };
}
