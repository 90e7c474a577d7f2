// Requests to a provider. A response that is slow, large or a redirect must not hold up a call or lead elsewhere.

import { isObject } from "../util/objects.ts";

/** More than any token or metadata needs. */
const mostBytes = 64 * 1024;

/** The part of a request that the protocol decides. */
interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: BodyInit | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Fetches without following redirects, and reads no more than is reasonable. */
export async function boundedFetch(url: string, request: ProviderRequest): Promise<Response> {
  const { method, headers, body, signal } = request;
  const response = await fetch(url, {
    method,
    headers,
    body: body ?? null,
    redirect: "manual",
    ...(signal === undefined ? {} : { signal }),
  });
  const bytes = await bytesOf(response);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
    status: response.status,
    headers: response.headers,
  });
}

/**
 * The same for the token endpoint. Some providers, GitHub among them, send an error with the status of a success. An id token
 * is not used, so it is not checked either. A lifetime that means nothing is left out: the tokens are good all the same, and the
 * refresh token that they came for is used up.
 */
export async function tokenFetch(url: string, request: ProviderRequest): Promise<Response> {
  const response = await boundedFetch(url, request);
  const text = await response.text();
  const json = parsed(text);
  const { status, headers } = response;
  if (!isObject(json)) return new Response(text === "" ? null : text, { status, headers });
  const isError = typeof json["error"] === "string" && json["access_token"] === undefined;
  const { id_token: _, expires_in: given, ...rest } = json;
  const seconds = lifetimeOf(given);
  const answer = seconds === undefined ? rest : { ...rest, expires_in: seconds };
  return Response.json(answer, { status: isError && response.ok ? 400 : status });
}

/** Ten years. Beyond that, a time is no longer a date. */
const mostSeconds = 10 * 365 * 24 * 3_600;

/** How many seconds a token lives. Undefined if that is not known. Some providers write 0 for a token that does not expire. */
function lifetimeOf(given: unknown): number | undefined {
  const isDigits = typeof given === "string" && /^\d{1,20}$/.test(given);
  const seconds = isDigits ? Number(given) : given;
  return typeof seconds === "number" && seconds > 0 ? Math.min(seconds, mostSeconds) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function bytesOf({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > mostBytes) throw new Error(`the response has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
