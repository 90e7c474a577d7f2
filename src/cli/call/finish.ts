// A session around a command, and a call within it to its end.

import type { Call } from "../../client/index.ts";
import { exit, Usage } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { drive } from "./drive.ts";
import type { Called } from "./drive.ts";
import { resumable, tell, tellFailure } from "./outcome.ts";
import type { Place } from "../server/place.ts";
import { openSession } from "./session.ts";
import type { CallValues, Session } from "./session.ts";

/** What is thrown becomes one sentence, or one JSON object, and an exit code. */
export async function withSession(
  place: Place,
  values: CallValues,
  io: Io,
  act: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  let session: Session | undefined;
  try {
    session = await openSession(place, values, io);
    return await act(session);
  } catch (error) {
    if (error instanceof Usage) throw error;
    return tellFailure(error, io, values.json ?? false);
  } finally {
    await session?.close();
  }
}

export async function finish(
  call: Call,
  { connection, calls, driver, isJson }: Session,
  called: Called,
  io: Io,
): Promise<ExitCode> {
  const outcome = await drive(call, driver, called);
  const { tool } = called;
  await calls.settle();
  const { last, kept } = calls;
  const ref = resumable(outcome, connection, last);
  const code = tell({ outcome, tool, server: connection, ref, kept }, io, isJson);
  // Printed first, and forgotten then: in between it could still be had again.
  if (code === exit.done || "result" in outcome) await call.result().catch(() => {});
  return code;
}
