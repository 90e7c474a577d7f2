// A question as the application sees it.

import type { CreateMessageRequestParams } from "@modelcontextprotocol/client";
import type { FormJson } from "../protocol/form.ts";

/** A question that asks the person to fill in a form. */
export interface FormQuestion {
  /** Tells the kinds of question apart. */
  readonly kind: "form";
  /** Names the question within its call. Pass it to `call.answer`. */
  readonly key: string;
  /** What the server asks, in words for the person. */
  readonly message: string;
  /** The fields of the form, as JSON Schema. */
  readonly schema: FormJson;
}

/** A question that asks the person to open a page, for example to sign in or to pay. */
export interface UrlQuestion {
  /** Tells the kinds of question apart. */
  readonly kind: "url";
  /** Names the question within its call. Pass it to `call.answer`. */
  readonly key: string;
  /** Why the server wants the person to open the page. */
  readonly message: string;
  /**
   * The address of the page, always http or https. The client never opens or fetches it. Show the person all of it, and
   * open it only after they agree.
   */
  readonly url: string;
  /** The host of `url`, with its port if it has one. */
  readonly host: string;
  /** True if the host name contains characters that can be mistaken for others. Warn the person. */
  readonly isPunycode: boolean;
}

/** A question for a language model. */
export interface SamplingQuestion {
  /** Tells the kinds of question apart. */
  readonly kind: "sampling";
  /** Names the question within its call. Pass it to `call.answer`. */
  readonly key: string;
  /** The messages for the model and the server's preferences, as the protocol defines them. */
  readonly params: CreateMessageRequestParams;
}

/** A question for the folders that the server may work in. The `roots` option of `connect` answers it. */
export interface RootsQuestion {
  /** Tells the kinds of question apart. */
  readonly kind: "roots";
  /** Names the question within its call. */
  readonly key: string;
}

/** A question that the server has asked and that has no answer yet. */
export type OpenQuestion = FormQuestion | UrlQuestion | SamplingQuestion | RootsQuestion;
