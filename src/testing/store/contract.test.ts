// The contract itself: a store that does not keep it fails, and the message says what it did instead.

import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../tasks/stores/memory.ts";
import type { TaskStore } from "../../tasks/store.ts";
import { expect as contractExpects } from "./expect.ts";
import { storeContract } from "./contract.ts";
import type { StoreCase } from "./contract.ts";

/** The contract of a memory store in which these operations are done differently. */
function contractOf(differently: (store: MemoryStore) => Partial<TaskStore>): readonly StoreCase[] {
  return storeContract(async ({ startsAt }) => {
    let now = startsAt;
    const kept = new MemoryStore({ now: () => now });
    const own = differently(kept);
    const store: TaskStore = new Proxy(kept, {
      get: (target, name) => {
        const value: unknown = Reflect.get(name in own ? own : target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    return {
      store,
      another: async () => store,
      advance: async (ms) => void (now += ms),
      close: () => kept.close(),
    };
  });
}

const named = (contract: readonly StoreCase[], name: string): StoreCase => {
  const found = contract.find((one) => one.name === name);
  if (found === undefined) throw new Error(`The contract has no case "${name}".`);
  return found;
};

test("each case has a name of its own, and cases can run side by side", async () => {
  const contract = contractOf(() => ({}));
  expect(new Set(contract.map(({ name }) => name)).size).toBe(contract.length);
  expect(contract.length).toBeGreaterThan(150);
  await Promise.all(contract.slice(0, 40).map(({ run }) => run()));
});

test("a store without the fence fails, and the message says what it did instead", async () => {
  const contract = contractOf((store) => ({
    report: async (ref, message) => {
      const { epoch = ref.epoch } = (await store.read(ref.id)) ?? {};
      return store.report({ ...ref, epoch }, message);
    },
  }));
  const name = "the fence: report: is refused after another worker's claim";
  await expect(named(contract, name).run()).rejects.toThrow(
    `The store does not keep the contract. "${name}": Expected false, but got true.`,
  );
});

test("a store that loses an answer fails, and the message names the place", async () => {
  const contract = contractOf((store) => ({
    answer: async (id, answers) => {
      const given = await store.answer(id, answers.slice(0, 1));
      return given;
    },
  }));
  const name =
    "answer: several at once arrive in the order of the questions, and unknown keys are skipped";
  await expect(named(contract, name).run()).rejects.toThrow(
    /Expected \["k","m"\], but got \[.*\]\./,
  );
});

test.each<[string, (store: MemoryStore) => Partial<TaskStore>]>([
  ["live tasks", (store) => ({ countEnded: async (of) => (await store.usage(of)).live })],
  ["other callers' tasks", (store) => ({ countEnded: () => store.countEnded("bob") })],
])("a store that counts %s as ended fails", async (_what, differently) => {
  const name = "countEnded: counts the ended tasks of one caller that still have their contents";
  await expect(named(contractOf(differently), name).run()).rejects.toThrow(
    /Expected \d, but got \d\./,
  );
});

test("random sequences find a store that returns nothing for a cancel", async () => {
  const contract = contractOf((store) => ({
    cancel: async (id, keepMs) => {
      await store.cancel(id, keepMs);
      return undefined;
    },
  }));
  const last = contract.at(-1);
  await expect(last?.run()).rejects.toThrow(/Property failed/);
});

test("a case about something that the store leaves out says that it is skipped", async () => {
  const contract = contractOf(() => ({ audit: undefined, accounts: undefined }));
  const told: unknown[] = [];
  const { run } = named(contract, "accounts: are kept by server, provider and person");
  await Reflect.apply(run, undefined, [{ skip: (why: unknown) => void told.push(why) }]);
  await run();
  expect(told).toEqual(["This store keeps no accounts."]);
});

describe("its comparisons", () => {
  test.each([
    [{ a: 1 }, { a: 1, b: undefined }],
    [
      [1, { a: new Map([["x", 1]]) }],
      [1, { a: new Map([["x", 1]]) }],
    ],
    [{ n: 3 }, { n: contractExpects.any(Number) }],
    [Object.fromEntries([["__proto__", 1]]), Object.fromEntries([["__proto__", 1]])],
  ])("%j equals %j", (got, expected) => contractExpects(got).toEqual(expected));

  test.each([
    [{ a: 1 }, { a: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [[1, 2], [1]],
    [[1], { 0: 1 }],
    [new Map([["x", 1]]), new Map([["x", 2]])],
    [new Map([["x", 1]]), new Map()],
    [{}, Object.fromEntries([["constructor", Object]])],
    [{ n: "3" }, { n: contractExpects.any(Number) }],
    [undefined, null],
  ])("%j does not equal %j", (got, expected) => {
    expect(() => contractExpects(got).toEqual(expected)).toThrow(/^Expected /);
  });

  test("a part of an object is enough for toMatchObject, and of a list it is not", () => {
    contractExpects({ a: 1, b: [{ c: 1, d: 2 }] }).toMatchObject({ b: [{ c: 1 }] });
    expect(() => contractExpects({ a: [1, 2] }).toMatchObject({ a: [1] })).toThrow(
      'Expected {"a":[1]}, but got {"a":[1,2]}. At .a: expected [1], but got [1,2].',
    );
  });
});

test("a store may leave out approvals, accounts, the audit and what operators read", async () => {
  const none = { approvals: undefined, accounts: undefined, audit: undefined, reader: undefined };
  const contract = contractOf(() => none);
  const skipped: string[] = [];
  for (const { name, run } of contract) {
    const skip = () => void skipped.push(name);
    await Reflect.apply(run, undefined, [{ skip }]);
  }
  expect(skipped.length).toBeGreaterThan(10);
});
