// Tokens that each release wrote with a test key, with the journals in them. Every later release must continue from them, so
// that a deployment does not lose the calls in progress.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { unpackEntry } from "../../src/replay/journal.ts";
import { parseKeys } from "../../src/token/keyring.ts";
import { openTicket } from "../../src/token/ticket.ts";
import { serveGolden } from "./file.ts";
import type { GoldenFile } from "./file.ts";
import { goldenJournal } from "./tools.ts";

const versions = readdirSync(new URL(".", import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && /^\d/.test(entry.name))
  .map(({ name }) => name);

test("there are golden files", () => {
  expect(versions).toContain("0.1.0");
});

describe.each(versions)("written by %s", (version) => {
  const path = new URL(`./${version}/rounds.json`, import.meta.url);
  const file = JSON.parse(readFileSync(path, "utf8")) as GoldenFile;

  test.each(file.calls)("every round of $tool continues", async (call) => {
    expect(call.legs.length).toBeGreaterThan(3);
    for (const { answer, ...leg } of call.legs) {
      const again = await serveGolden(file, call, leg);
      // The new token has a new nonce. Everything else must be the same.
      expect(withoutState(again)).toEqual(withoutState(answer));
    }
  });

  test("its journals are read as they were written", () => {
    expect(file.journal.map(unpackEntry)).toEqual(goldenJournal.slice(0, file.journal.length));
  });

  test("its tickets open", () => {
    expect(
      openTicket(file.ticket, parseKeys(file.key), { audience: "golden", now: file.now }),
    ).toMatchObject({
      kind: "url",
      key: "sign-in",
      principal: "issuer|ada",
      callId: "golden-call",
    });
  });
});

function withoutState(answer: GoldenFile["calls"][number]["legs"][number]["answer"]): unknown {
  if (answer.kind !== "input_required") return answer;
  const { requestState, inputRequests = {}, ...rest } = answer.result;
  expect(requestState).toMatch(/^v1\./);
  // Later releases ask for the roots with empty params, which 0.1.0 left out.
  const asked = Object.entries(inputRequests).map(([key, request]) => [
    key,
    request.method === "roots/list" ? { params: {}, ...request } : request,
  ]);
  return { ...rest, inputRequests: Object.fromEntries(asked) };
}
