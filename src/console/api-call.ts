// A request to the API, as each of its routes sees it.

import type { Json } from "../util/json.ts";
import type { Admitted } from "./operator.ts";

/** One request, after its sender was let in. */
export interface ApiCall {
  readonly operator: Admitted;
  /** What stands in the address in place of `:id`. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, Json>>;
  readonly signal: AbortSignal;
}
