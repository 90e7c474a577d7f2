// What peers in other languages said to our side, and what their servers answered, replayed without them. A field, a code
// or an order that has changed shows here. `npm run interop` makes the transcripts.

import { describe, expect, test } from "vitest";
import { deviations } from "./deviations.ts";
import { ourServer, withConnect, withOfficial } from "./our-side.ts";
import { byExchange, replayRequests, replayResponses } from "./replay.ts";
import { pageAndMade } from "./table.ts";
import { isLenient, transcripts } from "./transcript.ts";
import type { Transcript } from "./transcript.ts";

const recorded = transcripts().filter(({ passed }) => passed.length > 0);
const title = ({ peer, version, capability, direction }: Transcript) =>
  [`${peer} ${version}, ${direction}: ${capability}`] as const;
const isToParley = ({ direction }: Transcript) => direction === "to-parley";

describe("our server answers as it did", () => {
  test.concurrent.each(recorded.filter(isToParley).map((one) => [...title(one), one] as const))(
    "%s",
    async (_, { passed, capability }) => {
      const app = ourServer({ lenientTaskRouting: isLenient(capability) });
      const { url } = await app.listen(0);
      const seen = await replayRequests(url, passed);
      await app.close();
      expect(byExchange(seen)).toEqual(byExchange(passed));
    },
  );
});

describe("our client asks and ends as it did", () => {
  test.concurrent.each(
    recorded.filter((one) => !isToParley(one)).map((one) => [...title(one), one] as const),
  )("%s", async (_, { passed, direction, errand, outcome }) => {
    const peer = await replayResponses(passed);
    const run = direction === "connect" ? withConnect : withOfficial;
    expect(await run(peer.url, errand)).toEqual(outcome);
    expect(peer.requests()).toEqual(passed.filter((one) => "request" in one));
    await peer.close();
  });
});

test("docs/interop.md shows these runs, and explains each that fails", () => {
  const { is, hasToBe } = pageAndMade();
  expect(is).toBe(hasToBe);
});

test.each(deviations.map((one) => [one.title, one] as const))(
  "a run shows that: %s",
  (_, { peer, direction, capabilities, sign }) => {
    const shown = transcripts().filter(
      (one) =>
        one.peer === peer &&
        one.direction === direction &&
        (sign === undefined ? one.verdict === "fails" : JSON.stringify(one).includes(sign)),
    );
    expect(shown.map(({ capability }) => capability)).toEqual(
      expect.arrayContaining([...capabilities]),
    );
  },
);
