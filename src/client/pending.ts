// A question as the caller sees it, made of what the server sent.

import type { CreateMessageRequestParams } from "@modelcontextprotocol/client";
import type { FormJson } from "../protocol/form.ts";
import { badResponse } from "./errors.ts";
import { isObject, own } from "../util/objects.ts";

export type Pending =
  | {
      readonly kind: "form";
      readonly key: string;
      readonly message: string;
      readonly schema: FormJson;
    }
  | {
      readonly kind: "url";
      readonly key: string;
      readonly message: string;
      /** Never opened or fetched here. Show all of it, and open it only when the person has agreed. */
      readonly url: string;
      readonly host: string;
      /** The host has letters that can be mistaken for others: say so to the person. */
      readonly isPunycode: boolean;
    }
  | {
      readonly kind: "sampling";
      readonly key: string;
      readonly params: CreateMessageRequestParams;
    }
  | { readonly kind: "roots"; readonly key: string };

export type Kind = Pending["kind"];

/** Throws where it is not one of the three requests that a server may put. */
export function pendingOf(key: string, request: unknown): Pending {
  const method = own(request, "method");
  const params = own(request, "params");
  switch (method) {
    case "elicitation/create":
      return elicitation(key, params);
    case "sampling/createMessage":
      return sampling(key, params);
    case "roots/list":
      return { kind: "roots", key };
    default:
      throw badResponse(`question "${key}" is a ${JSON.stringify(method)?.slice(0, 80)} request`);
  }
}

function elicitation(key: string, params: unknown): Pending {
  const mode = own(params, "mode") ?? "form";
  const message = own(params, "message");
  if (typeof message !== "string") throw badResponse(`question "${key}" has no message`);
  if (mode === "url") return { kind: "url", key, message, ...page(key, own(params, "url")) };
  if (mode !== "form") throw badResponse(`question "${key}" has an unknown mode`);
  const schema = own(params, "requestedSchema");
  if (!isForm(schema)) throw badResponse(`question "${key}" has no form`);
  return { kind: "form", key, message, schema };
}

/** As far as it is looked at; a field is looked at when it is filled in. */
function isForm(schema: unknown): schema is FormJson {
  const properties = own(schema, "properties");
  const required = own(schema, "required");
  return (
    own(schema, "type") === "object" &&
    isObject(properties) &&
    Object.values(properties).every(isObject) &&
    (required === undefined || (Array.isArray(required) && required.every(isText)))
  );
}

const isText = (value: unknown): value is string => typeof value === "string";

function page(key: string, url: unknown) {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  // A script or a file is no page to send a person to.
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw badResponse(`question "${key}" leads to no page`);
  }
  const { host, hostname, href } = parsed;
  const isPunycode = hostname.split(".").some((label) => label.startsWith("xn--"));
  return { url: href, host, isPunycode };
}

function sampling(key: string, params: unknown): Pending {
  if (!Array.isArray(own(params, "messages"))) {
    throw badResponse(`question "${key}" has no messages for a model`);
  }
  // Not declared, so not to be asked for: who would run the tools?
  if (own(params, "tools") !== undefined || own(params, "toolChoice") !== undefined) {
    throw badResponse(`question "${key}" wants a model with tools, which this client has not`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- for the caller's model to read, which takes what it knows
  return { kind: "sampling", key, params: params as CreateMessageRequestParams };
}
