import { expect, test } from "vitest";
import { CallError } from "../../client/index.ts";
import type { CallErrorCode } from "../../client/index.ts";
import { inCommandWords } from "./command-words.ts";

test.each<[CallErrorCode, string, string]>([
  [
    "timed_out",
    "The server took too long. The call may still be running: if error.ref is set, continue it with resume(error.ref).",
    "The server took too long.",
  ],
  [
    "too_many_rounds",
    "The call is not done after 2 rounds of questions. If you expect that many, raise limits.rounds in connect().",
    "The call is not done after 2 rounds of questions.",
  ],
  [
    "bad_reference",
    'That call began in protocol version 2025-11-25, and this connection speaks 2026-07-28. Connect with era: "2025-11-25" and resume the call there.',
    "That call began in protocol version 2025-11-25, and this connection speaks 2026-07-28. Leave out --as, and try again.",
  ],
  ["task_failed", "The task failed: Out of stock. Sorry!", "The task failed: Out of stock. Sorry!"],
])("%s has advice for a command line", (code, message, expected) => {
  expect(inCommandWords(new CallError(code, message)).message).toBe(expected);
});

test("a call that took too long is explained with the option, and a task goes on", () => {
  const message =
    "The server took longer than timeoutMs allows (2000 ms). The call may still be running: if error.ref is set, continue it with resume(error.ref).";
  const said = (taskId?: string) =>
    inCommandWords(new CallError("timed_out", message, { taskId })).message;
  expect(said()).toBe(
    "The server took longer than --timeout allows (2000 ms). The call may still be running.",
  );
  expect(said("7")).toBe(
    "The task took longer than --timeout allows (2000 ms). It goes on without this command.",
  );
});

test("a missing capability is explained with the server's words and an option", () => {
  const rpc = { code: -32_021, message: "This client cannot be asked." };
  const said = (requiredCapabilities: object) =>
    inCommandWords(
      new CallError("capability_missing", "Pass connect() a handler for it.", {
        rpc: { ...rpc, data: { requiredCapabilities } },
      }),
    ).message;
  expect(said({ elicitation: {} })).toBe(
    "This client cannot be asked. Leave out --as, and try again.",
  );
  expect(said({ roots: {} })).toContain("with --root DIR");
});
