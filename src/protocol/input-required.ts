// The response of a server that needs input, as 2026-07-28 has it. The types of the SDK cover both eras and therefore have
// an `elicitationId`, which this version no longer has.

import type { CreateMessageRequestParams } from "@modelcontextprotocol/server";
import type { FormJson } from "./form.ts";

/** Something that a server asks of the client. */
export type InputRequest =
  | {
      readonly method: "elicitation/create";
      readonly params: {
        readonly mode: "form";
        readonly message: string;
        readonly requestedSchema: FormJson;
      };
    }
  | {
      readonly method: "elicitation/create";
      readonly params: { readonly mode: "url"; readonly message: string; readonly url: string };
    }
  | { readonly method: "sampling/createMessage"; readonly params: CreateMessageRequestParams }
  | { readonly method: "roots/list" };

/** The response of a round that ended with questions, or with a request to call again. */
export interface InputRequired {
  readonly resultType: "input_required";
  /** By key. Absent if the client only has to call again. */
  readonly inputRequests?: { readonly [key: string]: InputRequest };
  /** The token that the client sends back unchanged. */
  readonly requestState: string;
}
