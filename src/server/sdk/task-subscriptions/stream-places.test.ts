// The places for subscriptions, and how streams that are not about tasks give theirs back.

import { expect, test } from "vitest";
import { nodeEnvironment } from "../../ops/environment.ts";
import type { Core } from "../../core.ts";
import { subscriptionPlaces, TaskStreams } from "./over-http.ts";

test("a caller gets all of its places back, and a place that is given back twice counts once", () => {
  const places = subscriptionPlaces(2);
  const [first, second] = [places.take("ann"), places.take("ann")];
  expect(places.take("ann")).toMatch(/^Subscription limit reached: this caller already has 2 open/);
  for (const giveBack of [first, first]) if (typeof giveBack !== "string") giveBack();
  const third = places.take("ann");
  expect(places.take("ann")).toContain("this caller already has 2 open");
  for (const giveBack of [second, third]) if (typeof giveBack !== "string") giveBack();
  const again = [places.take("ann"), places.take("ann")];
  expect(again.map((place) => typeof place)).toEqual(["function", "function"]);
});

const isReleased = async (streams: TaskStreams): Promise<boolean> => {
  const open = new Response(new ReadableStream(), { headers });
  const { headers: sent } = await streams.serve(listen, "ann", open);
  return sent.get("content-type") === "text/event-stream";
};

const headers = { "content-type": "text/event-stream" };
const listen = { id: 1, taskIds: undefined };

function streamsForOne(): TaskStreams {
  const limits = { subscriptionsPerPrincipal: 1 };
  // The function that streams without tasks use.
  return new TaskStreams({ limits, environment: nodeEnvironment } as unknown as Core);
}

test("a stream that breaks off gives its place back", async () => {
  const streams = streamsForOne();
  const broken = new ReadableStream({ pull: () => Promise.reject(new Error("broken")) });
  const { body } = await streams.serve(listen, "ann", new Response(broken, { headers }));
  await expect(body?.getReader().read()).rejects.toThrow("broken");
  expect(await isReleased(streams)).toBe(true);
});

test("a stream whose client has gone gives its place back, even if nothing reads the stream", async () => {
  const streams = streamsForOne();
  const gone = new AbortController();
  const served = new Response(new ReadableStream(), { headers });
  await streams.serve(listen, "ann", served, gone.signal);
  expect(await isReleased(streams)).toBe(false);
  gone.abort();
  expect(await isReleased(streams)).toBe(true);
});

test("a client that has gone before its stream begins takes no place", async () => {
  const streams = streamsForOne();
  const served = new Response(new ReadableStream(), { headers });
  await streams.serve(listen, "ann", served, AbortSignal.abort());
  expect(await isReleased(streams)).toBe(true);
});
