// A paused call as the App reads it in the result of a tool.

import type { FormJson } from "../protocol/form.ts";
import { pauseMeta } from "../protocol/paused-call.ts";
import { isObject, own } from "../util/objects.ts";

/** A pause, as far as the App needs it. */
export interface Pause {
  readonly call: string;
  readonly secret: string;
  /** The questions that are for the App. */
  readonly questions: readonly Question[];
  /** Whether there is nothing to answer, because the call is still running. */
  readonly isRunning: boolean;
  readonly expiresAt: number;
}

export interface Question {
  readonly key: string;
  readonly message: string;
  readonly form: FormJson;
}

/** Undefined if the call has ended, or if the App may not answer for it. */
export function pauseIn(result: unknown): Pause | undefined {
  const meta = own(own(result, "_meta"), pauseMeta);
  const call = own(meta, "call");
  const secret = own(meta, "secret");
  if (typeof call !== "string" || typeof secret !== "string") return undefined;
  const all = Object.entries(own(meta, "questions") ?? {});
  const questions = all.flatMap(([key, one]) => {
    const params = own(own(one, "request"), "params");
    const form = own(params, "requestedSchema");
    if (own(one, "way") !== "app" || !isObject(form)) return [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own server has written it
    return [{ key, message: String(own(params, "message")), form: form as unknown as FormJson }];
  });
  const expiresAt = Date.parse(String(own(meta, "expiresAt")));
  return { call, secret, questions, isRunning: all.length === 0, expiresAt };
}
