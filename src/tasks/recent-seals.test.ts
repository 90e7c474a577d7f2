// A text that was sealed or opened a moment ago is not decrypted again, and nothing opens that would not open otherwise.

import { expect, test } from "vitest";
import { newKey, parseKeys } from "../token/keyring.ts";
import { openRecord, sealRecord } from "../token/sealed-record.ts";
import { RecentSeals } from "./recent-seals.ts";

function remembering() {
  const keyring = parseKeys([newKey("test")]);
  let opened = 0;
  const seals = new RecentSeals({
    seal: (text, place) => sealRecord(text, place, keyring),
    open: (sealed, place) => {
      opened += 1;
      return openRecord(sealed, place, keyring);
    },
  });
  return { keyring, seals, opened: () => opened };
}

test("what was sealed here, or opened once, is not decrypted again", () => {
  const { keyring, seals, opened } = remembering();
  const ours = seals.seal("ours", "a");
  const theirs = sealRecord("theirs", "a", keyring);
  for (let times = 0; times < 3; times += 1) {
    expect([seals.open(ours, "a"), seals.open(theirs, "a")]).toEqual(["ours", "theirs"]);
  }
  expect(opened()).toBe(1);
});

test("another place, and another text, are refused as without it", () => {
  const { keyring, seals } = remembering();
  const sealed = seals.seal("text", "a");
  const other = sealed.slice(0, -2) + (sealed.at(-2) === "A" ? "B" : "A") + (sealed.at(-1) ?? "");
  expect(() => seals.open(sealed, "b")).toThrow(expect.objectContaining({ reason: "forged" }));
  expect(() => seals.open(other, "a")).toThrow("Invalid or expired");
  expect(seals.open(sealed, "a")).toBe("text");
  expect(openRecord(sealed, "a", keyring)).toBe("text");
});

test("a text that is in use stays, and the others are forgotten after a megabyte", () => {
  const { seals, opened } = remembering();
  const used = seals.seal("used", "a");
  const unused = seals.seal("unused", "a");
  for (let n = 0; n < 400; n += 1) {
    seals.seal("x".repeat(2_000), `${n}`);
    seals.open(used, "a");
  }
  expect(opened()).toBe(0);
  seals.open(unused, "a");
  expect(opened()).toBe(1);
});

test("a text that is too large is not kept", () => {
  const { seals, opened } = remembering();
  const sealed = seals.seal("x".repeat(10_000), "a");
  seals.open(sealed, "a");
  seals.open(sealed, "a");
  expect(opened()).toBe(2);
});
