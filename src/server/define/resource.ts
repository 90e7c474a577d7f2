// A resource: a fixed URI or a URI template. Its handler may ask questions as well.

import { UriTemplate } from "@modelcontextprotocol/server";
import type {
  ReadResourceResult,
  ResourceMetadata,
  ScopeChallengeHandler,
} from "@modelcontextprotocol/server";
import { isObject } from "../../util/objects.ts";
import { parsedUrl } from "../../util/parsed-url.ts";
import { badResult, checkedResult } from "./checked-result.ts";
import type { Context } from "../context/context.ts";
import type { Definition, Parsed, WireResult } from "./definition.ts";
import type { InputRequiredResult } from "../context/low-level.ts";
import { LinearTemplate, longestUri } from "./linear-template.ts";

/** The names of the variables in a URI template. `test://{id}/data{?page,size}` has "id", "page" and "size". */
export type TemplateNames<U extends string> = U extends `${string}{${infer E}}${infer R}`
  ?
      | VariableNames<E extends `${"+" | "#" | "." | "/" | ";" | "?" | "&"}${infer N}` ? N : E>
      | TemplateNames<R>
  : never;
/** The names in one expression of a URI template: `page,size` has "page" and "size". */
export type VariableNames<E extends string> = E extends `${infer A},${infer B}`
  ? A | VariableNames<B>
  : E extends `${infer A}*`
    ? A
    : E;

/** The parameters of a resource's handler. Only a template has variables. */
export type ResourceArgs<U extends string> = [TemplateNames<U>] extends [never]
  ? [uri: URL, ctx: Context]
  : [uri: URL, variables: { readonly [K in TemplateNames<U>]: string }, ctx: Context];

/** One URI of a template, for the list of resources. */
export interface ListedResource {
  /** The URI. */
  readonly uri: string;
  /** A name to show to people. */
  readonly name: string;
}

/** The configuration of a resource: the SDK's metadata, and more for templates. */
export type ResourceConfig<U extends string> = ResourceMetadata & {
  /** For templates: lists the URIs that exist. Default: none are listed. */
  readonly list?:
    | (() => readonly ListedResource[] | Promise<readonly ListedResource[]>)
    | undefined;
  /** For templates: completes a variable. Each function gets what is typed so far, and returns the values that begin with it. */
  readonly complete?:
    | {
        readonly [K in TemplateNames<U>]?:
          | ((value: string) => string[] | Promise<string[]>)
          | undefined;
      }
    | undefined;
  /** The scopes that a caller needs, as the SDK defines them. */
  readonly scopeChallenge?: ScopeChallengeHandler | undefined;
};

/** A registered resource. Pass it to `play` of the test kit. */
export interface Resource {
  /** Tells a resource from a tool and a prompt. */
  readonly kind: "resource";
  /** The name it is registered under. */
  readonly name: string;
}

/** What the handler of a resource returns: text, bytes, or a whole result. */
export type ResourceReturn = string | Uint8Array | ReadResourceResult | InputRequiredResult;

/** The handler of a resource. */
export type ResourceHandler<U extends string> = (
  ...args: ResourceArgs<U>
) => ResourceReturn | Promise<ResourceReturn>;

/** The definition behind `app.resource`. */
export function defineResource<U extends string>(
  name: string,
  uri: U,
  { mimeType }: ResourceConfig<U>,
  handler: ResourceHandler<U>,
): Definition {
  const template = UriTemplate.isTemplate(uri) ? new LinearTemplate(uri) : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its parameters are ResourceArgs
  const call = handler as unknown as (...args: readonly unknown[]) => unknown;
  return {
    method: "resources/read",
    name,
    parse: (target, _args, url) => parseUri(target, template, url),
    invoke: (input, ctx) => {
      const [url, ...variables] = Array.isArray(input) ? input : [input];
      return call(url, ...variables, ctx);
    },
    toResult: (returned, target) => resourceResult(name, target, mimeType, returned),
    toFailure: () => undefined,
  };
}

function parseUri(
  target: string,
  template: LinearTemplate | undefined,
  parsed: URL | undefined,
): Parsed {
  if (target.length > longestUri) {
    return { ok: false, reason: `The URI is longer than ${longestUri} characters.` };
  }
  const url = parsed ?? parsedUrl(target);
  if (url === undefined) return { ok: false, reason: `Not a URI: ${target}` };
  if (template === undefined) return { ok: true, input: [url] };
  const variables = template.match(target);
  if (variables === null) return { ok: false, reason: `Not a URI of this template: ${target}` };
  return { ok: true, input: [url, variables] };
}

function resourceResult(
  name: string,
  uri: string,
  mimeType: string | undefined,
  returned: unknown,
): WireResult {
  const described = mimeType === undefined ? { uri } : { uri, mimeType };
  if (typeof returned === "string") return { contents: [{ ...described, text: returned }] };
  if (returned instanceof Uint8Array) {
    return { contents: [{ ...described, blob: Buffer.from(returned).toString("base64") }] };
  }
  if (isObject(returned) && "contents" in returned) {
    return checkedResult(`Resource "${name}"`, "ReadResourceResult", returned);
  }
  throw badResult(
    `Resource "${name}" returned neither a string, nor a Uint8Array, nor a result with contents. Return one of these.`,
  );
}
