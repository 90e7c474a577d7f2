// Opens a session for a command, and runs a call in it to the exit code.

import type { Call } from "../../client/index.ts";
import { UsageError } from "../command.ts";
import type { ExitCode, Io } from "../command.ts";
import { drive } from "./drive.ts";
import type { Called } from "./drive.ts";
import { resumable, tell, tellFailure } from "./outcome.ts";
import type { Target } from "../server/target.ts";
import { openSession } from "./session.ts";
import type { CallValues, Session } from "./session.ts";

/** Runs `act` in a session. An error becomes a message, or one JSON object, and an exit code. */
export async function withSession(
  target: Target,
  values: CallValues,
  io: Io,
  act: (session: Session) => Promise<ExitCode>,
): Promise<ExitCode> {
  let session: Session | undefined;
  try {
    session = await openSession(target, values, io);
    return await act(session);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return tellFailure(error, io, values.json ?? false);
  } finally {
    await session?.close();
  }
}

/** Runs a call to its end, and prints its outcome. */
export async function finish(
  call: Call,
  { connection, calls, driver, needsToken, isJson }: Session,
  called: Called,
  io: Io,
): Promise<ExitCode> {
  const outcome = await drive(call, driver, called);
  const { tool, again } = called;
  await calls.settle();
  const { last, kept } = calls;
  const ref = resumable(outcome, connection, last);
  const { streamed } = driver;
  const told = { outcome, tool, server: connection, ref, kept, again, needsToken, streamed };
  const code = tell(told, io, isJson);
  // The journal forgets the call only after its result is printed, so that the result cannot get lost in between.
  if ("result" in outcome) await call.result().catch(() => {});
  return code;
}
