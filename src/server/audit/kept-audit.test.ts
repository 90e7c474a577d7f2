// The audit in a store: what several replicas write at once, and what whoever can write to the database can do to it.

import { expect, test } from "vitest";
import type { AuditEntry, AuditStore } from "../../tasks/audit-store.ts";
import { MemoryStore } from "../../tasks/stores/memory.ts";
import { newKey, parseKeys } from "../../token/keyring.ts";
import type { Keyring } from "../../token/keyring.ts";
import { anotherInstance, registeredAs } from "../define/handles.ts";
import { nodeEnvironment } from "../ops/environment.ts";
import type { Environment } from "../ops/environment.ts";
import { parley } from "../parley.ts";
import type { AuditRecord, AuditSink } from "./audit-record.ts";
import { openChain } from "./open-chain.ts";

const keyring = parseKeys(newKey("test"));
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Setting {
  readonly store?: MemoryStore;
  readonly keys?: Keyring;
  readonly sink?: AuditSink;
  readonly environment?: Environment;
}

/** A replica of an app. */
function replica({ store = new MemoryStore(), keys = keyring, sink, environment }: Setting = {}) {
  const app = parley({ name: "audited", version: "1.0.0", audit: { sink, values: true } });
  const { core } = registeredAs(app.tool("pay", {}, async () => "paid"));
  return anotherInstance(core, {
    keyring: keys,
    environment: environment ?? nodeEnvironment,
    logger: silent,
    store,
  });
}

const asked = (key: string) => ({ action: "asked", callId: "c", tool: "pay", key }) as const;

/** A chain of four records and its end. */
async function written(keys = keyring): Promise<readonly AuditEntry[]> {
  const store = new MemoryStore();
  const { audit, trail } = replica({ store, keys });
  await audit(asked("a"), { isNew: true });
  await audit([asked("b"), { ...asked("b"), action: "answered", value: "yes" }]);
  await audit(asked("c"));
  await trail.end("c");
  return store.audit.readChain("c");
}

test("the records of a call open again, in their order, to their end", async () => {
  const { records, isEnded, problems } = openChain(await written(), keyring);
  expect(records.map(({ action, key, value }) => [action, key, value])).toEqual([
    ["asked", "a", undefined],
    ["asked", "b", undefined],
    ["answered", "b", "yes"],
    ["asked", "c", undefined],
  ]);
  expect(records.every(({ at }) => at instanceof Date)).toBe(true);
  expect({ isEnded, problems }).toEqual({ isEnded: true, problems: [] });
});

test("without the keys nothing of a record can be read", async () => {
  const stored = JSON.stringify(await written());
  expect(stored).not.toContain("answered");
  expect(stored).not.toContain("yes");
});

const swapped = ([one, two, ...rest]: readonly AuditEntry[]): AuditEntry[] => [
  { ...two!, n: 1 },
  { ...one!, n: 2 },
  ...rest,
];

test.each<[string, (chain: readonly AuditEntry[]) => readonly AuditEntry[], string[]]>([
  ["a deleted record", (chain) => chain.toSpliced(1, 1), ["Record 2 is missing."]],
  ["deleted records", (chain) => chain.toSpliced(1, 2), ["Records 2 to 3 are missing."]],
  ["a deleted beginning", (chain) => chain.slice(1), ["Record 1 is missing."]],
  [
    "a deletion that is covered up with new numbers",
    (chain) => chain.toSpliced(1, 1).map((one, index) => ({ ...one, n: index + 1 })),
    [2, 3, 4].map((n) => `Record ${n} was changed, or it belongs to another place.`),
  ],
  [
    "two records that have changed places",
    swapped,
    [1, 2]
      .map((n) => `Record ${n} was changed, or it belongs to another place.`)
      .concat(
        "Record 2 is not the one that record 3 was written after. One of them was changed or replaced.",
      ),
  ],
  [
    "a changed text",
    (chain) => chain.with(2, { ...chain[2]!, record: `${chain[2]!.record.slice(0, -4)}AAAA` }),
    [
      "Record 3 was changed, or it belongs to another place.",
      "Record 3 is not the one that record 4 was written after. One of them was changed or replaced.",
    ],
  ],
  [
    "another digest of the record before",
    (chain) => chain.with(2, { ...chain[2]!, record: `x${chain[2]!.record}` }),
    [
      "Record 3 was changed, or it belongs to another place.",
      "Record 3 is not the one that record 4 was written after. One of them was changed or replaced.",
    ],
  ],
  [
    "another id, so that the record could be written a second time",
    (chain) => chain.with(2, { ...chain[2]!, id: "other" }),
    ["Record 3 was changed, or it belongs to another place."],
  ],
  [
    "a record of another call",
    (chain) => chain.map((one) => ({ ...one, chain: "d" })),
    [1, 2, 3, 4, 5].map((n) => `Record ${n} was changed, or it belongs to another place.`),
  ],
])("%s is found", async (_what, change, problems) => {
  expect(openChain(change(await written()), keyring).problems).toEqual(problems);
});

test("a record of an earlier version of the same call is found in the place of another", async () => {
  const [chain, other] = [await written(), await written()];
  expect(openChain(chain.with(1, other[1]!), keyring).problems).toEqual([
    "Record 1 is not the one that record 2 was written after. One of them was changed or replaced.",
    "Record 2 is not the one that record 3 was written after. One of them was changed or replaced.",
  ]);
});

test("a record that is cut off at its end does not say that it is over", async () => {
  const chain = await written();
  for (let length = 0; length < chain.length; length += 1) {
    expect(openChain(chain.slice(0, length), keyring)).toMatchObject({
      isEnded: false,
      problems: [],
    });
  }
});

test("records open after the keys were rotated, as long as the old key is known", async () => {
  const chain = await written();
  const [old, fresh] = [newKey("old"), newKey("new")];
  const store = new MemoryStore();
  await replica({ store, keys: parseKeys(old) }).audit(asked("a"));
  await replica({ store, keys: parseKeys([fresh, old]) }).audit(asked("b"));
  const entries = await store.audit.readChain("c");
  expect(openChain(entries, parseKeys([fresh, old])).problems).toEqual([]);
  const without = openChain(entries, parseKeys(fresh));
  expect(without.problems).toEqual([]);
  expect(without.sealed).toEqual([
    { app: "audited", chain: "c", n: 1, at: expect.any(Number), keyId: "old" },
  ]);
  expect(without.records.map(({ key }) => key)).toEqual(["b"]);
  expect(openChain(chain, parseKeys(fresh)).records).toEqual([]);
});

test("a changed record is found even if it names a key that is not here", async () => {
  const chain = await written();
  const renamed = chain.map((one) => ({
    ...one,
    record: one.record.replace(" r1.test.", " r1.x."),
  }));
  expect(openChain(chain.with(1, renamed[1]!), keyring)).toMatchObject({
    sealed: [{ n: 2, keyId: "x" }],
    problems: [
      "Record 2 is not the one that record 3 was written after. One of them was changed or replaced.",
    ],
  });
  const none = parseKeys(newKey("none"));
  expect(openChain(chain, none).problems).toEqual([]);
  expect(openChain(chain.toSpliced(1, 1), none).problems).toEqual(["Record 2 is missing."]);
  expect(openChain(chain.with(0, renamed[0]!), none).problems).toHaveLength(1);
});

test("the same record is written once, whoever writes it and how often", async () => {
  const store = new MemoryStore();
  const told: AuditRecord[] = [];
  const sink = (record: AuditRecord) => told.push(record);
  const [one, other] = [replica({ store, sink }), replica({ store, sink })];
  await one.audit(asked("a"));
  await other.audit(asked("a"));
  await one.audit([asked("a"), asked("b")]);
  await one.audit({ ...asked("a"), occasion: 2 });
  await other.trail.end("c");
  await one.trail.end("c");
  const entries = await store.audit.readChain("c");
  expect(openChain(entries, keyring).records.map(({ key }) => key)).toEqual(["a", "b", "a"]);
  expect(entries).toHaveLength(4);
  expect(told.map(({ key }) => key)).toEqual(["a", "b", "a"]);
});

test("two replicas that record one call at once leave one whole chain", async () => {
  const store = new MemoryStore();
  const replicas = [replica({ store }), replica({ store }), replica({ store })];
  await Promise.all(
    Array.from({ length: 30 }, (_, n) => replicas[n % 3]!.audit(asked(`question ${n}`))),
  );
  const { records, problems } = openChain(await store.audit.readChain("c"), keyring);
  expect(problems).toEqual([]);
  expect(new Set(records.map(({ key }) => key)).size).toBe(30);
});

/** A store whose audit fails until it is repaired. */
function failingStore() {
  const store = new MemoryStore();
  const { audit } = store;
  let isBroken = true;
  const broken = () => Promise.reject(new Error("out of order"));
  const failing: Pick<AuditStore, "tail" | "append"> = {
    tail: (...args) => (isBroken ? broken() : audit.tail(...args)),
    append: (...args) => (isBroken ? broken() : audit.append(...args)),
  };
  Object.assign(store, { audit: failing });
  return { store, audit, repair: () => void (isBroken = false) };
}

test("what a failing store did not take is told to the sink, and written with the next record", async () => {
  const { store, audit, repair } = failingStore();
  const told: AuditRecord[] = [];
  const { audit: record } = replica({ store, sink: (one) => told.push(one) });
  await record(asked("a"));
  expect(told.map(({ key }) => key)).toEqual(["a"]);
  repair();
  await record(asked("b"));
  const { records } = openChain(await audit.readChain("c"), keyring);
  expect(records.map(({ key }) => key)).toEqual(["a", "b"]);
  expect(told.map(({ key }) => key)).toEqual(["a", "b"]);
});

test("what a failing store did not take is tried again by itself", async () => {
  const { store, audit, repair } = failingStore();
  const timers: (() => void)[] = [];
  const environment: Environment = {
    ...nodeEnvironment,
    eventually: (_ms, callback) => {
      timers.push(callback);
      return () => {};
    },
  };
  const { audit: record } = replica({ store, environment });
  await record(asked("a"));
  await record(asked("b"));
  timers.shift()?.();
  await expect.poll(() => timers.length).toBe(1);
  repair();
  timers.shift()?.();
  await expect
    .poll(async () => openChain(await audit.readChain("c"), keyring).records.map(({ key }) => key))
    .toEqual(["a", "b"]);
});

test("refused tokens do not fill the store", async () => {
  const store = new MemoryStore();
  let told = 0;
  const { audit } = replica({ store, sink: () => (told += 1) });
  for (let n = 0; n < 200; n += 1) await audit({ action: "token_refused", note: "forged" });
  expect(told).toBe(200);
  const entries = await store.audit.readAfter(undefined, 1_000);
  expect(entries).toHaveLength(60);
  expect(openChain(entries, keyring).problems).toEqual([]);
});
