// The options of questions whose answers come from elsewhere: from a page, or from someone else.

import type { Question } from "../../replay/promises.ts";
import type { OutputOf, Schema } from "../forms/schema.ts";
import type { About } from "../pages/page-question.ts";
import type { Notice } from "./notice.ts";

/** The address of a page: an http or https URL, or a function that puts a ticket into one. */
export type PageUrl = string | URL | ((ticket: string) => string | URL);

/** The options of `ctx.openUrl`. */
export interface PageOptions {
  /** How long the question waits, in milliseconds. It then throws `UnansweredError` with the reason "timed_out". Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Also accepts an answer that was sent before the question was asked. Default: false. */
  readonly unsolicited?: boolean | undefined;
}

/** The options of both forms of `ctx.openUrl`. */
export interface OpenUrlOptions extends PageOptions {
  readonly until?: (() => boolean | Promise<boolean>) | undefined;
  readonly schema?: Schema | undefined;
}

/** The options of `ctx.waitFor`. */
export interface WaitOptions {
  /**
   * Passes the address of the page, or the ticket, on to the person or system that answers. It runs once, as a step does. If
   * it throws, it is called again, twice at most, with the same `idempotencyKey`.
   */
  readonly notify: (notice: Notice) => unknown;
  /** What the page shows beside the form, such as `{ Amount: "$500", By: "ada" }`. At most 4 KiB. Default: nothing. */
  readonly about?: About | undefined;
  /** How long to wait, in milliseconds. `waitFor` then throws `UnansweredError` with the reason "timed_out". Default: as long as the task lasts. */
  readonly timeoutMs?: number | undefined;
}

/** The forms of `ctx.openUrl`. */
export interface OpenUrl {
  <S extends Schema>(
    key: string,
    message: string,
    url: PageUrl,
    options: PageOptions & {
      /** The value that the page brings with `app.deliver(ticket, value)`. The question waits for it. */
      readonly schema: S;
      /** The value says that the person is done. */
      readonly until?: undefined;
    },
  ): Question<OutputOf<S>>;
  (
    key: string,
    message: string,
    url: PageUrl,
    options?: PageOptions & {
      /** Says whether the person is done on the page. It is called for up to 20 seconds in a round; then the question is asked again. Default: accepting is enough. */
      readonly until?: (() => boolean | Promise<boolean>) | undefined;
      /** Without a schema, the page brings no value. */
      readonly schema?: undefined;
    },
  ): Question<void>;
}
