// A session: a connection, the calls that are kept, somebody to talk to, and Ctrl-C.

import process from "node:process";
import { GivenAnswers } from "../args/given-answers.ts";
import type { Io } from "../command.ts";
import { Calls, defaultFolder } from "../journal/calls.ts";
import { style } from "../screen/style.ts";
import { talkOf } from "../screen/talk.ts";
import { accessOf, accessOptions, opened, timeoutOf } from "../server/access.ts";
import type { AccessValues } from "../server/access.ts";
import type { Place } from "../server/place.ts";
import type { Reached } from "../server/reach.ts";
import type { Driver } from "./drive.ts";

const ownCallOptions = {
  answers: { type: "string" },
  answer: { type: "string", multiple: true },
  journal: { type: "string" },
  "no-journal": { type: "boolean" },
  "no-input": { type: "boolean" },
  quiet: { type: "boolean" },
} as const;

export const callOptions: typeof accessOptions & typeof ownCallOptions = {
  ...accessOptions,
  ...ownCallOptions,
};

export interface CallValues extends AccessValues {
  readonly answers?: string | undefined;
  readonly answer?: readonly string[] | undefined;
  readonly journal?: string | undefined;
  readonly "no-journal"?: boolean | undefined;
  readonly "no-input"?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

export interface Session extends Reached {
  readonly calls: Calls;
  readonly driver: Driver;
  readonly timeoutMs: number | undefined;
  readonly isJson: boolean;
}

export function folderIn(values: CallValues): string {
  return values.journal ?? defaultFolder;
}

export async function openSession(place: Place, values: CallValues, io: Io): Promise<Session> {
  const talk = talkOf(io, values.quiet);
  const folder = values["no-journal"] === true ? undefined : folderIn(values);
  const calls = new Calls(place, folder, (text) => talk.line(style.yellow(text)));
  const given = new GivenAnswers(values.answers, values.answer ?? []);
  const timeoutMs = timeoutOf(values);
  const interrupt = interruption();
  const reached = await opened(place, { ...accessOf(values, io), journal: calls }, values, talk);
  const isInteractive = io.isInteractive && values["no-input"] !== true;
  const driver = { talk, given, isInteractive, interrupt };
  const close = async () => {
    await reached.close();
    calls.letGo();
  };
  return { ...reached, close, calls, driver, timeoutMs, isJson: values.json ?? false };
}

/** Once: the second Ctrl-C ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  process.once("SIGINT", () => {
    // Behind the ^C that the terminal shows.
    if (process.stderr.isTTY) process.stderr.write("\n");
    controller.abort();
  });
  return controller.signal;
}
