// The contract of all task stores: what store.ts and task.ts say, as tests. A store runs it in a line.

import { afterEach, beforeEach, describe } from "vitest";
import { describeAnyone } from "./anyone.ts";
import { describeModel } from "./model.ts";
import { startsAt } from "./opened.ts";
import type { Open, Opened } from "./opened.ts";
import { describeRaces } from "./races.ts";
import { describeRounds } from "./rounds.ts";
import { describeSweeping } from "./sweeping.ts";
import { describeTexts } from "./texts.ts";
import { describeWorkers } from "./workers.ts";

export type { Open, Opened } from "./opened.ts";

export function describeTaskStore(name: string, open: Open): void {
  describe(`${name} as a task store`, () => {
    describe("contract", () => {
      let current: Opened | undefined;
      beforeEach(async () => void (current = await open({ startsAt })));
      afterEach(async () => current?.close());
      const opened = () => current!;

      describeAnyone(opened);
      describeWorkers(opened);
      describeSweeping(opened);
      describeRounds(opened);
      describeTexts(opened);
      describeRaces(opened);
    });
    describeModel(open);
  });
}
