// What went wrong at a provider, in words that may be shown: a code from the protocol, or a sentence of ours. Everything else
// that a provider says may hold anything, even tokens, and is left out.

import { AuthorizationResponseError, ResponseBodyError } from "oauth4webapi";
import { errorText } from "../util/error-text.ts";
import { isObject } from "../util/objects.ts";
import { controls, hidden } from "../util/unsafe-characters.ts";

/** A provider refused, or could not be used. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** The error code of the protocol, if the provider sent one. */
  readonly code: string | undefined;
  /** Whether the same request can succeed later. */
  readonly isTemporary: boolean;

  constructor(message: string, code: string | undefined, isTemporary: boolean) {
    super(message);
    this.code = code;
    this.isTemporary = isTemporary;
  }
}

/** Describes what a request to a provider threw. */
export function providerError(thrown: unknown): ProviderError {
  if (thrown instanceof ProviderError) return thrown;
  if (thrown instanceof ResponseBodyError || thrown instanceof AuthorizationResponseError) {
    const code = shownCode(thrown.error);
    const status = thrown instanceof ResponseBodyError ? thrown.status : 400;
    return new ProviderError(code, code, status >= 500 || temporary.has(code));
  }
  return new ProviderError(reasonOf(thrown), undefined, true);
}

const temporary: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable"]);

/** Codes of the protocol and its extensions look like this. Anything else could be made to read like a sentence of ours. */
const shownCode = (code: string): string =>
  /^[a-z0-9_]{1,60}$/i.test(code) ? code : "an unknown error";

const mostCharacters = 200;

function reasonOf(thrown: unknown): string {
  if (thrown instanceof Error && thrown.name === "TimeoutError") return "no response in time";
  const cause = isObject(thrown) ? thrown["cause"] : undefined;
  // Causes of the library hold whole responses. Those of `fetch` hold the code of a system error.
  const code = isObject(cause) && typeof cause["code"] === "string" ? ` (${cause["code"]})` : "";
  // A part of what the provider sent may be in the message.
  const text = errorText(thrown)
    .replaceAll(controls, "")
    .replaceAll(hidden, "")
    .replaceAll(/\s+/g, " ");
  return `${text.slice(0, mostCharacters)}${/^ \([A-Z_]{2,40}\)$/.test(code) ? code : ""}`;
}
