// What every page sends and reads: responses that nothing keeps or frames, and the fields of a form.

import { textHash } from "../../token/text-hash.ts";
import { style } from "../../ui/style.ts";

/** The most that a form may send. */
const mostBytes = 256 * 1024;

/** The fields of the form. Undefined for a body that is too large or of another type. */
export async function sentIn(request: Request): Promise<URLSearchParams | undefined> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\b/i.test(type) || request.body === null)
    return undefined;
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<unknown> = request.body;
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) return undefined;
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}

const styleHash = textHash(style);

/** Nothing is loaded or kept, no other site can frame the page or learn its address, and no search engine lists it. */
export const safe: Readonly<Record<string, string>> = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "cache-control": "no-store",
  "x-robots-tag": "noindex, nofollow",
  "x-frame-options": "DENY",
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** A page. */
export const html = (status: number, text: string): Response =>
  new Response(text, { status, headers: { ...safe, "content-type": "text/html; charset=utf-8" } });

/** What the author's `authorize` returned, which no cache may keep. */
export function unkept(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("cache-control", "no-store");
  return new Response(response.body, { status: response.status, headers });
}
