// The response of a server that needs input, in 2026-07-28. The types of the SDK cover both eras, so they have an
// `elicitationId`, which this version no longer has.

import type { CreateMessageRequestParams } from "@modelcontextprotocol/server";
import type { FormJson } from "./form.ts";

/** A form that the client shows to its user. */
export interface FormInputRequest {
  /** Always `"elicitation/create"`. */
  readonly method: "elicitation/create";
  /** What to show. */
  readonly params: {
    /** Tells a form from a page. */
    readonly mode: "form";
    /** The text above the form. */
    readonly message: string;
    /** The fields of the form. */
    readonly requestedSchema: FormJson;
  };
}

/** A page that the client lets its user open. */
export interface UrlInputRequest {
  /** Always `"elicitation/create"`. */
  readonly method: "elicitation/create";
  /** What to show. */
  readonly params: {
    /** Tells a page from a form. */
    readonly mode: "url";
    /** The text that is shown with the link. */
    readonly message: string;
    /** The address of the page. */
    readonly url: string;
  };
}

/** A message for the client's model to write. */
export interface SamplingInputRequest {
  /** Always `"sampling/createMessage"`. */
  readonly method: "sampling/createMessage";
  /** The prompt and its settings, as in the specification. */
  readonly params: CreateMessageRequestParams;
}

/** A request for the client's roots. */
export interface RootsInputRequest {
  /** Always `"roots/list"`. */
  readonly method: "roots/list";
  /** Optional, but there are clients that cannot read the request without it, so Parley sends an empty one. */
  readonly params?: object;
}

/** Something that a server asks of the client. */
export type InputRequest =
  | FormInputRequest
  | UrlInputRequest
  | SamplingInputRequest
  | RootsInputRequest;

/** The response of a round that ended with questions, or with a request to call again. */
export interface InputRequired {
  readonly resultType: "input_required";
  /** By key. Absent if the client only has to call again. */
  readonly inputRequests?: { readonly [key: string]: InputRequest };
  /** The token that the client sends back unchanged. */
  readonly requestState: string;
}
