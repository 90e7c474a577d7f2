// The responses of the console's API.

import type { Failure } from "./wire.ts";

/** A request that is not served. The message goes to the person at the console. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly #since: number | undefined;

  constructor(status: number, code: string, message: string, since?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.#since = since;
  }

  get response(): Response {
    const { code, message } = this;
    const since = this.#since;
    const error = { code, message, ...(since !== undefined && { since }) };
    return json({ error } satisfies Failure, this.status);
  }
}

export const notFound = (what: string): Refusal => new Refusal(404, "not_found", what);

/** A response in JSON, which no cache keeps and no page embeds. */
export function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...plainHeaders, "content-type": "application/json; charset=utf-8" },
  });
}

/** What every response of the API has. */
export const plainHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
} as const;
