// Where signing in may lead. A server names the addresses of pages and tokens, on any host. Followed are those that are
// encrypted, and its own; into this machine leads only a server that is on it.

import type { FetchLike } from "@modelcontextprotocol/client";
import { CallError } from "../../client/index.ts";
import { plainLine } from "../screen/plain.ts";

const isHere = ({ hostname }: URL) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

export function checkSafe(href: string, server: URL): void {
  const url = new URL(href);
  const isSafe =
    url.origin === server.origin ||
    (isHere(url) ? isHere(server) && /^https?:$/.test(url.protocol) : url.protocol === "https:");
  if (isSafe) return;
  throw new CallError(
    "refused",
    `To sign in, the server leads to ${plainLine(href)}, where nothing is sent: it takes https, on another machine.`,
  );
}

export function safeFetch(server: URL): FetchLike {
  return async (url, init) => {
    checkSafe(String(url), server);
    return fetch(url, init);
  };
}
