// What peers in other languages said to our side, and what their servers answered, replayed without them. A field, a code
// or an order that has changed shows here. `npm run interop` makes the transcripts.

import { describe, expect, test } from "vitest";
import { deviations, explains } from "./deviations.ts";
import { withConnect, withOfficial } from "./our-side.ts";
import { byExchange, replayRequests, replayResponses } from "./replay.ts";
import { pageAndMade } from "./table.ts";
import { transcripts } from "./transcript.ts";
import type { Passed, Transcript } from "./transcript.ts";
import { serverFor } from "./tutorial.ts";

const recorded = transcripts().filter(({ passed }) => passed.length > 0);
const title = ({ peer, version, capability, direction }: Transcript) =>
  [`${peer} ${version}, ${direction}: ${capability}`] as const;
const isToParley = ({ direction }: Transcript) => direction === "to-parley";

describe("our server answers as it did", () => {
  test.concurrent.each(recorded.filter(isToParley).map((one) => [...title(one), one] as const))(
    "%s",
    async (_, { passed, capability }) => {
      const app = serverFor(capability);
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

// One run of each peer in each direction, and three ways in which the other side could have changed: a field, a status,
// and the order.
const changes: readonly ((passed: readonly Passed[]) => Passed[])[] = [
  (passed) => altered(passed, (text) => text.replace('"text":', '"texts":')),
  (passed) => altered(passed, (text) => text.replace('"status":200', '"status":201')),
  (passed) => passed.toReversed(),
];

function altered(passed: readonly Passed[], change: (text: string) => string): Passed[] {
  return passed.map((one): Passed =>
    "request" in one ? one : JSON.parse(change(JSON.stringify(one))),
  );
}

const oneOfEach = recorded.filter(({ capability }) => capability === "form");

describe("a run that changed is noticed", () => {
  test.concurrent.each(oneOfEach.filter(isToParley).map((one) => [...title(one), one] as const))(
    "%s",
    async (_, { passed, capability }) => {
      const app = serverFor(capability);
      const { url } = await app.listen(0);
      const seen = byExchange(await replayRequests(url, passed));
      await app.close();
      for (const change of changes) expect(seen).not.toEqual(byExchange(change(passed)));
    },
  );

  test.concurrent.each(
    oneOfEach.filter((one) => !isToParley(one)).map((one) => [...title(one), one] as const),
  )("%s", async (_, { passed, direction, errand, outcome }) => {
    const run = direction === "connect" ? withConnect : withOfficial;
    const peer = await replayResponses(altered(passed, (text) => text.replace("Ada", "Eve")));
    expect(await run(peer.url, errand)).not.toEqual(outcome);
    const requests = peer.requests();
    await peer.close();
    const recordedOnes = passed.filter((one) => "request" in one);
    expect(requests).toEqual(recordedOnes);
    expect(requests.toReversed()).not.toEqual(recordedOnes);
    expect(requests).not.toEqual(
      recordedOnes.map((one) => JSON.parse(JSON.stringify(one).replace("Ada", "Eve"))),
    );
  });
});

test("docs/interop.md shows these runs, and explains each that fails", () => {
  const { is, hasToBe } = pageAndMade();
  expect(is).toBe(hasToBe);
});

test.each(deviations.map((one) => [one.title, one] as const))(
  "a run shows that: %s",
  (_, deviation) => {
    const { sign } = deviation;
    const shown = transcripts().filter(
      (one) =>
        explains(deviation, one) &&
        (sign === undefined ? one.verdict === "fails" : JSON.stringify(one).includes(sign)),
    );
    const directions = new Set(shown.map(({ direction }) => direction));
    const capabilities = new Set(shown.map(({ capability }) => capability));
    expect(directions).toEqual(new Set([deviation.direction].flat()));
    expect(capabilities).toEqual(new Set(deviation.capabilities));
  },
);
