// A session of a command: the connection, the journal, the terminal, and Ctrl-C.

import process from "node:process";
import { GivenAnswers } from "../args/given-answers.ts";
import type { Io } from "../command.ts";
import { Calls, defaultFolder } from "../journal/calls.ts";
import { OwnMark } from "../journal/own-mark.ts";
import { style } from "../screen/style.ts";
import { printerFor } from "../screen/printer.ts";
import { accessOf, accessOptions, openConnection, timeoutOf } from "../server/access.ts";
import type { AccessValues } from "../server/access.ts";
import type { Target } from "../server/target.ts";
import type { ConnectedServer } from "../server/connection.ts";
import type { Driver } from "./drive.ts";
import { StreamedText } from "./streamed-text.ts";

const ownCallOptions = {
  answers: { type: "string" },
  answer: { type: "string", multiple: true },
  journal: { type: "string" },
  "no-journal": { type: "boolean" },
  "no-input": { type: "boolean" },
  "no-stream": { type: "boolean" },
  quiet: { type: "boolean" },
} as const;

/** The options of every command that runs a call. */
export const callOptions: typeof accessOptions & typeof ownCallOptions = {
  ...accessOptions,
  ...ownCallOptions,
};

/** The values of these options. */
export interface CallValues extends AccessValues {
  readonly answers?: string | undefined;
  readonly answer?: readonly string[] | undefined;
  readonly journal?: string | undefined;
  readonly "no-journal"?: boolean | undefined;
  readonly detach?: boolean | undefined;
  readonly "no-input"?: boolean | undefined;
  readonly "no-stream"?: boolean | undefined;
  readonly quiet?: boolean | undefined;
}

/** An open connection, and what a call needs while it runs. */
export interface Session extends ConnectedServer {
  readonly calls: Calls;
  readonly driver: Driver;
  readonly timeoutMs: number | undefined;
  readonly isJson: boolean;
  /** Whether the person has typed a token, which the next command needs again. */
  readonly needsToken: boolean;
}

/** The folder of the journal. */
export function folderIn(values: CallValues): string {
  return values.journal ?? defaultFolder;
}

/** Connects to the server and opens the journal. */
export async function openSession(target: Target, values: CallValues, io: Io): Promise<Session> {
  const printer = printerFor(io, values.quiet);
  const folder = values["no-journal"] === true ? undefined : folderIn(values);
  const calls = new Calls(
    target,
    folder,
    (text) => printer.line(style.yellow(text)),
    new OwnMark(io.env),
  );
  const given = new GivenAnswers(values.answers, values.answer ?? []);
  const timeoutMs = timeoutOf(values);
  const interruption = onInterrupt();
  const isPlain = values.json === true || values.quiet === true;
  const streams = !isPlain && values["no-stream"] !== true;
  const options = { ...accessOf(values, io), journal: calls, streams };
  const connected = await openConnection(target, options, values, printer, io).catch(
    (error: unknown) => {
      interruption.end();
      throw error;
    },
  );
  const isInteractive = io.isInteractive && values["no-input"] !== true;
  const streamed = streams ? new StreamedText(printer) : undefined;
  const { signal: interrupt } = interruption;
  const detaches = values.detach === true;
  const driver = { printer, given, isInteractive, streamed, detaches, interrupt };
  const close = async () => {
    interruption.end();
    await connected.close();
    calls.letGo();
  };
  const facts = { needsToken: values.token !== undefined, isJson: values.json ?? false };
  return { ...connected, close, calls, driver, timeoutMs, ...facts };
}

/** Handles Ctrl-C once. A second Ctrl-C ends the process at once. */
function onInterrupt() {
  const controller = new AbortController();
  const interrupt = () => {
    // The terminal has printed ^C, so start a new line.
    if (process.stderr.isTTY) process.stderr.write("\n");
    controller.abort();
  };
  process.once("SIGINT", interrupt);
  return { signal: controller.signal, end: () => void process.off("SIGINT", interrupt) };
}
