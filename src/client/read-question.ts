// Reads a question from what a server sent, and refuses what is not one.

import type { CreateMessageRequestParams } from "@modelcontextprotocol/client";
import type { FormJson } from "../protocol/form.ts";
import { isObject, own } from "../util/objects.ts";
import { badResponse } from "./errors.ts";
import type { FormQuestion, OpenQuestion, SamplingQuestion, UrlQuestion } from "./question.ts";

/** Throws `bad_response` unless the request is one of the three that a server may send. */
export function readQuestion(key: string, request: unknown): OpenQuestion {
  const method = own(request, "method");
  const params = own(request, "params");
  switch (method) {
    case "elicitation/create":
      return readElicitation(key, params);
    case "sampling/createMessage":
      return readSampling(key, params);
    case "roots/list":
      return { kind: "roots", key };
    default:
      throw badResponse(
        `question "${key}" has the unknown method ${JSON.stringify(method)?.slice(0, 80)}`,
      );
  }
}

function readElicitation(key: string, params: unknown): FormQuestion | UrlQuestion {
  const mode = own(params, "mode") ?? "form";
  const message = own(params, "message");
  if (typeof message !== "string") throw badResponse(`question "${key}" has no message`);
  if (mode === "url") return { kind: "url", key, message, ...readPage(key, own(params, "url")) };
  if (mode !== "form") throw badResponse(`question "${key}" has an unknown mode`);
  const schema = own(params, "requestedSchema");
  if (!isForm(schema)) throw badResponse(`question "${key}" has no valid form`);
  return { kind: "form", key, message, schema };
}

/** Checks the outline only. A field is checked when it is filled in. */
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

function readPage(key: string, url: unknown): Pick<UrlQuestion, "url" | "host" | "isPunycode"> {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  // A person must not be sent to a script or a local file.
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw badResponse(`question "${key}" has no http or https URL`);
  }
  const { host, hostname, href } = parsed;
  const isPunycode = hostname.split(".").some((label) => label.startsWith("xn--"));
  return { url: href, host, isPunycode };
}

function readSampling(key: string, params: unknown): SamplingQuestion {
  if (!Array.isArray(own(params, "messages"))) {
    throw badResponse(`question "${key}" has no messages for a model`);
  }
  // The client does not declare tools for sampling, because it could not run them.
  if (own(params, "tools") !== undefined || own(params, "toolChoice") !== undefined) {
    throw badResponse(
      `question "${key}" needs a model with tools, which this client did not declare`,
    );
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the application's model reads it and takes what it knows
  return { kind: "sampling", key, params: params as CreateMessageRequestParams };
}
