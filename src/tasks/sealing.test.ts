import { expect, test } from "vitest";
import { newKey, parseKeys } from "../token/keyring.ts";
import { openRecord, sealRecord } from "../token/sealed-record.ts";
import { isForged, openAnswer, sealAnswer, sealJson } from "./sealing.ts";
import type { Sealer } from "./sealing.ts";

const keyring = parseKeys(newKey("test"));
const sealer: Sealer = {
  seal: (text, place) => sealRecord(text, place, keyring),
  open: (sealed, place) => openRecord(sealed, place, keyring),
};

test.each([{}, { via: "link" }, { via: "link", who: "bo" }, { who: "bo" }])(
  "an answer counts only for its question in its wording, however it came (%j)",
  (from) => {
    const sealed = sealAnswer(sealer, "call", "yes", { key: "pay", digest: "pay 10?" }, from);
    expect(openAnswer(sealer, "call", sealed, { key: "pay", digest: "pay 10?" })).toEqual({
      value: "yes",
      from,
    });
    for (const other of [
      { key: "pay", digest: "pay 1000?" },
      { key: "pay/pay 10?", digest: "" },
      { key: "delete", digest: "pay 10?" },
    ]) {
      expect(() => openAnswer(sealer, "call", sealed, other)).toThrow(expect.toSatisfy(isForged));
    }
  },
);

test("an answer that version 0.1.0 sealed for the key of its question still opens", () => {
  const sealed = sealJson(sealer, "yes", "call/answer/pay");
  expect(openAnswer(sealer, "call", sealed, { key: "pay", digest: "any" })).toEqual({
    value: "yes",
    from: {},
  });
});
