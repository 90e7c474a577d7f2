// What a server answers when it needs something, in the words of 2026-07-28. (The SDK's own types are wide
// enough for both eras, and with them an `elicitationId` that this revision no longer has.)

import type { CreateMessageRequestParams } from "@modelcontextprotocol/server";
import type { FormJson } from "./form.ts";

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

export interface InputRequired {
  readonly resultType: "input_required";
  /** Absent in a state-only round. */
  readonly inputRequests?: { readonly [key: string]: InputRequest };
  readonly requestState: string;
}
