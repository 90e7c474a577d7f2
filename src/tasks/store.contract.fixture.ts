// The contract of all task stores: what store.ts and task.ts say, as tests. A store runs it in a line.

import { afterEach, beforeEach, describe } from "vitest";
import { describeAnyone } from "./contract/anyone.fixture.ts";
import { describeModel } from "./contract/model.fixture.ts";
import { startsAt } from "./contract/opened.fixture.ts";
import type { Open, Opened } from "./contract/opened.fixture.ts";
import { describeRaces } from "./contract/races.fixture.ts";
import { describeRounds } from "./contract/rounds.fixture.ts";
import { describeSweeping } from "./contract/sweeping.fixture.ts";
import { describeTexts } from "./contract/texts.fixture.ts";
import { describeWorkers } from "./contract/workers.fixture.ts";

export type { Open, Opened } from "./contract/opened.fixture.ts";

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
