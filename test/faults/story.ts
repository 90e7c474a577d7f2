// What happened to an errand, and what is wrong with it.

import { isDeepStrictEqual } from "node:util";
import type { TaskSnapshot } from "../../src/tasks/snapshot.ts";
import { bodyKeys, expected } from "./errand.fixture.ts";

export interface Started {
  readonly key: string;
  readonly idempotencyKey: string;
}

export interface Story {
  readonly callId: string;
  /** Whether the first engine died on the way. */
  readonly isDead: boolean;
  readonly task: TaskSnapshot | undefined;
  readonly journal: readonly string[];
  /** The wire keys of all questions that the client has seen. */
  readonly asked: readonly string[];
  /** The bodies that a living engine called, once for each call. */
  readonly started: readonly Started[];
  /** The bodies that the first engine was running when it died, without a record in the log. */
  readonly cutShort: readonly string[];
}

/**
 * The same holds for every point: nothing is lost, nothing is asked or recorded twice, and a body runs twice only if it
 * was killed before it was recorded. It then has the same idempotency key.
 */
export function mistakesIn(story: Story): readonly string[] {
  const { callId, task, journal, asked, started, cutShort } = story;
  const mistakes: string[] = [];
  const compare = (what: string, is: unknown, shouldBe: unknown) => {
    if (isDeepStrictEqual(is, shouldBe)) return;
    mistakes.push(`${what}: ${JSON.stringify(is)}, not ${JSON.stringify(shouldBe)}`);
  };
  compare("status", task?.status, expected.status);
  compare("result", task?.result, expected.result);
  compare("journal", journal, expected.journal);
  compare("asked", asked, expected.asked);
  for (const key of bodyKeys) {
    const keys = started.filter((one) => one.key === key).map((one) => one.idempotencyKey);
    const times = cutShort.includes(key) ? 2 : 1;
    compare(`bodies of ${key}`, keys, Array(times).fill(`${callId}/${key}`));
  }
  compare(
    "other bodies",
    started.filter(({ key }) => !bodyKeys.includes(key)),
    [],
  );
  return mistakes;
}
