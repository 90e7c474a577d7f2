import { expect, test } from "vitest";
import { RecentTexts } from "./recent-texts.ts";

const filled = (count: number) => {
  const texts = new RecentTexts<number>({ mostLength: 10, longest: 5 });
  for (let n = 1; n <= count; n += 1) texts.keep(`${n}`, n, 1);
  return texts;
};

test("knows what was kept, until two generations have passed", () => {
  expect(filled(20).get("1")).toBe(1);
  expect(filled(21).get("1")).toBeUndefined();
  expect(filled(21).get("11")).toBe(11);
});

test("what is kept again stays", () => {
  const texts = filled(15);
  texts.keep("1", 1, 1);
  for (let n = 16; n <= 25; n += 1) texts.keep(`${n}`, n, 1);
  expect(texts.get("1")).toBe(1);
  expect(texts.get("2")).toBeUndefined();
});

test("what is kept twice counts once", () => {
  const texts = filled(1);
  for (let n = 0; n < 100; n += 1) texts.keep("1", 1, 1);
  for (let n = 2; n <= 20; n += 1) texts.keep(`${n}`, n, 1);
  expect(texts.get("1")).toBe(1);
});

test.each([5, 15])("a value that was taken is gone, from either generation (%i)", (count) => {
  const texts = filled(count);
  expect([texts.take("3"), texts.take("3"), texts.get("3")]).toEqual([3, undefined, undefined]);
});

test("a text that is too long is not kept", () => {
  const texts = filled(0);
  texts.keep("long", 1, 6);
  expect(texts.get("long")).toBeUndefined();
});

test("a text is known only if it is the same from its beginning, even if it ends like another", () => {
  const texts = new RecentTexts<number>({ mostLength: 1_000, longest: 100 });
  const end = "0".repeat(24);
  texts.keep(`a${end}`, 1, 25);
  expect(texts.get(`b${end}`)).toBeUndefined();
  expect(texts.take(`b${end}`)).toBeUndefined();
  expect(texts.get(`a${end}`)).toBe(1);
  texts.keep(`b${end}`, 2, 25);
  expect([texts.get(`a${end}`), texts.get(`b${end}`)]).toEqual([undefined, 2]);
});
