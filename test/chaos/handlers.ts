// Handlers of several shapes. Each depends only on what it receives, as every handler must.

import type { Witness } from "./witness.ts";

export type ChaosHandler = (act: Witness) => Promise<void>;

/** Questions in parallel, each with a step after its answer. */
async function parallel(act: Witness): Promise<void> {
  await act.step("before");
  await Promise.all(
    ["a", "b", "c"].map(async (key) => {
      await act.ask(key);
      await act.step(`after-${key}`);
    }),
  );
  await act.step("together");
}

/** A race. The loser may still come later, and must not have won in another run. */
async function race(act: Witness): Promise<void> {
  await Promise.race([act.ask("question"), act.sleep("nap", 150, 700)]);
  await act.step("so");
  await act.ask("then");
  await act.step("wrap-up");
}

/** A question with a time limit. */
async function limit(act: Witness): Promise<void> {
  await act.step("before");
  await act.ask("quick", { timeoutMs: act.length("limit", 150, 700) }).catch(() => "late");
  await act.step("between");
  await act.ask("calm");
  await act.step("after");
}

/** Many bodies at once, and then one after another. */
async function storm(act: Witness): Promise<void> {
  const keys = Array.from({ length: 8 }, (_, index) => `gust-${index}`);
  await Promise.all(keys.map((key) => act.step(key)));
  for (const key of ["one", "two", "three", "four", "five"]) await act.step(key);
}

/** A task that is held for long, so that a worker that wakes up late finds another one running it. */
async function march(act: Witness): Promise<void> {
  for (let pace = 1; pace <= 12; pace += 1) await act.step(`pace-${pace}`, { ms: [40, 200] });
}

/** A body that outlives a lease while a question is open. */
async function long(act: Witness): Promise<void> {
  await Promise.all([
    act.step("haul", { ms: [800, 1_800] }),
    act.ask("meanwhile").then(() => act.step("reply")),
  ]);
  await act.ask("and");
  await act.step("after");
}

/** Bodies that throw, and one that is retried. */
async function trouble(act: Witness): Promise<void> {
  await act.step("breaks", { throws: true }).catch(() => "broken");
  await act.step("flaky", { retries: 2, ms: [20, 80] });
  await act.ask("go-on");
  await Promise.all([act.step("flaky-too", { retries: 2 }), act.sleep("rest", 50, 300)]);
}

/** An answer from elsewhere, which may come before the question. */
async function other(act: Witness): Promise<void> {
  await act.step("before");
  await Promise.all([act.external("boss"), act.step("work", { ms: [50, 400] })]);
  await act.sleep("pause", 50, 400);
  await act.step("after");
}

/** All of it, nested. */
async function nested(act: Witness): Promise<void> {
  await Promise.all([
    Promise.race([act.ask("left"), act.sleep("left-nap", 100, 500)]).then(() =>
      act.step("leftish"),
    ),
    Promise.all([act.step("mid"), act.ask("mid-ask").then(() => act.step("mid-after"))]),
    act
      .sleep("right-nap", 50, 300)
      .then(() => act.ask("right", { timeoutMs: act.length("right-limit", 100, 600) }))
      .catch(() => "late")
      .then(() => act.step("rightish")),
  ]);
  await act.step("joined");
  await act.ask("final");
}

/** Streams, one after the other and side by side, around a question. One of them fails at first. */
async function stream(act: Witness): Promise<void> {
  await act.stream("draft");
  await Promise.all([act.stream("one"), act.stream("other", { retries: 1 }), act.ask("sure")]);
  await act.stream("end");
}

/** Questions that may lose a race, and what beats them. */
export const rivals: ReadonlyMap<string, string> = new Map([
  ["question", "nap"],
  ["left", "left-nap"],
]);

/** Only with `--streams`. */
export const streamHandlers: Readonly<Record<string, ChaosHandler>> = { stream };

export const handlers: Readonly<Record<string, ChaosHandler>> = {
  parallel,
  race,
  limit,
  storm,
  march,
  long,
  trouble,
  other,
  nested,
};
