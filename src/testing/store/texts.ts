// Texts that are hard on quoting, prototypes, encodings and column sizes.

import { describe, test } from "./cases.ts";
import { expect } from "./expect.ts";
import {
  answer,
  arrived,
  create,
  hold,
  idsOf,
  keepMs,
  leaseMs,
  nowOf,
  question,
  read,
  ttlMs,
} from "./opened.ts";
import type { OpenedStore } from "./opened.ts";

const odd = {
  proto: "__proto__",
  constructor: "constructor",
  empty: "",
  quotes: `'; drop table tasks; -- " \\" \` $1 ? :a @b %s {}[]`,
  lines: "one\ntwo\r\n\tthree\u2028four\u2029",
  unicode: "Größe ｆｕｌｌ Ωμέγα שלום 你好 e\u0301",
  emoji: "👩‍👩‍👧‍👦🏳️‍🌈𝒳",
  number: "0123",
  json: `{"a":[1,null]}`,
  nullText: "null",
};
const large = "Aé👍".repeat(256 * 1024);

/** Registers these tests. */
export function describeTexts(opened: () => OpenedStore): void {
  describe.each(Object.entries(odd))("odd text: %s", (_name, text) => {
    test("comes back unchanged, everywhere in a task", async () => {
      const { store } = opened();
      const now = await nowOf(store);
      const texts = { id: `t${text}`, callId: text, tool: text, principal: text, input: text };
      const inbox = [{ id: text, key: text, digest: text, value: text, at: now }];
      const claimedBy = { worker: text, leaseMs };
      const log = [text, text];
      const task = await create(store, "a", { ...texts, inbox, log, claimedBy });
      expect(task).toMatchObject({ ...texts, worker: text, inbox });
      expect(await store.readByCall(text)).toEqual(task);
      expect(await store.readLog(task.id)).toEqual(log);
      expect(await store.revisions([task.id])).toEqual(new Map([[task.id, 1]]));

      const asked: Record<string, number> = Object.fromEntries([[text, 3]]);
      const waits = [question(text, { wire: `w${text}`, digest: text, request: text })];
      expect(await store.park(task, { waits, asked, taken: [text] })).toBe(true);
      const parked = await read(store, task);
      expect(parked).toMatchObject({ waits, inbox: [] });
      expect(Object.entries(parked.asked)).toEqual([[text, 3]]);

      const given = await store.answer(task.id, [answer(`w${text}`, text)]);
      expect(given?.accepted).toEqual([`w${text}`]);
      const { claimed } = await store.claim({ worker: text, tools: [text], most: 9, leaseMs });
      expect(claimed).toEqual([
        {
          task: expect.objectContaining({
            id: task.id,
            inbox: [arrived(text, now, { id: `w${text}`, digest: text, value: text })],
          }),
          log,
          before: undefined,
        },
      ]);
      const ref = claimed[0]!.task;
      await store.append(ref, { at: 2, records: [text], taken: [], returned: [] });
      expect(await store.readLog(ref.id)).toEqual([...log, text]);
      expect(idsOf((await store.renew(text, [ref], leaseMs)).held)).toEqual([ref.id]);
      await store.report(ref, text);
      expect(await read(store, ref)).toMatchObject({ statusMessage: text });
      await store.finish(ref, { status: "failed", result: text, statusMessage: text, keepMs });
      expect(await read(store, ref)).toMatchObject({ result: text, statusMessage: text });
      const page = { principal: text, after: undefined, limit: 9 };
      expect(idsOf(await store.list(page))).toEqual([ref.id]);
      await store.leave(text);
    });

    test("comes back unchanged, everywhere in a round", async () => {
      const { store } = opened();
      await store.spill(text, text, ttlMs, text);
      expect(await store.spilled(text)).toBe(text);
      const round = { principal: text, callId: text, round: 1, answers: text, leaseMs, ttlMs };
      const ref = { id: text, epoch: 1 };
      expect(await store.claimRound(round)).toEqual({ kind: "run", ref, log: [] });
      await store.appendToRound(ref, 0, text);
      await store.releaseRound(ref);
      const next = { ...ref, epoch: 2 };
      expect(await store.claimRound(round)).toEqual({ kind: "run", ref: next, log: [text] });
      await store.endRound(next, text);
      expect(await store.claimRound(round)).toEqual({ kind: "ended", response: text });
    });
  });

  test("an early delivery may have a key that names a member of every object", async () => {
    const { store } = opened();
    const ref = await hold(store, "a");
    for (const key of ["__proto__", "constructor", "toString"]) {
      const early = { key, digest: "d" };
      const given = await store.answer(ref.id, [{ wire: key, value: "v", early }]);
      expect(given?.accepted).toEqual([key]);
    }
  });

  test("a megabyte comes back unchanged", async () => {
    const { store } = opened();
    const ref = await hold(store, "a", { input: large, log: [large] });
    expect(await store.append(ref, { at: 1, records: [large], taken: [], returned: [] })).toBe(
      true,
    );
    const log = await store.readLog(ref.id);
    expect(log.length === 2 && log.every((record) => record === large)).toBe(true);
    const task = await read(store, ref);
    expect(task.input === large).toBe(true);
    expect(task.logBytes).toBe(2 * large.length);
    await store.finish(ref, { status: "completed", result: large, statusMessage: "m", keepMs });
    expect((await read(store, ref)).result === large).toBe(true);
    await store.spill("s", large, ttlMs, "ann");
    expect((await store.spilled("s")) === large).toBe(true);
  });

  test.each(["task-a\0", "task-a\0b", "\0", "\ud800"])(
    "no task is found under an id that no store can hold: %j",
    async (id) => {
      const { store } = opened();
      await create(store, "a");
      expect(await store.read(id)).toBeUndefined();
      expect(await store.readLog(id)).toEqual([]);
      expect(await store.answer(id, [answer("k")])).toBeUndefined();
      expect(await store.cancel(id, keepMs)).toBeUndefined();
      expect(await store.revisions([id, "task-a"])).toEqual(new Map([["task-a", 1]]));
    },
  );
}
