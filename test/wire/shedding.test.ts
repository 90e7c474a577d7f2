// A round that ends between two steps, over HTTP: the client comes back at once, and any instance goes on.

import { parley } from "mcp-parley";
import type { ParleyOptions } from "mcp-parley";
import { connect } from "mcp-parley/client";
import { expect, onTestFinished, test } from "vitest";
import { overEntry } from "../entry.ts";
import { connectV2, modern } from "../interop/clients.ts";
import { keys, quiet } from "../interop/errands.ts";
import { People } from "../interop/people.ts";
import { callTool, textIn, tokenIn } from "./post.ts";

const steps = 12;

/** Two replicas of an app with a call of twelve steps, behind one address. */
async function pair(options: Partial<ParleyOptions> = {}) {
  const ran: string[] = [];
  /** What the body of a step does, besides being recorded. */
  let during = (_step: number): void => {};
  const replica = async (name: string) => {
    const given = { name: "walker", version: "1.0.0", keys, logger: quiet, ...options };
    const app = parley(given as ParleyOptions);
    onTestFinished(() => app.close());
    app.tool("walk", {}, async (ctx) => {
      for (let step = 1; step <= steps; step += 1) {
        await ctx.step(`s${step}`, async () => {
          ran.push(`${name} ${step}`);
          during(step);
        });
      }
      return "walked";
    });
    return { app, url: (await app.listen(0, overEntry())).url };
  };
  const [a, b] = [await replica("a"), await replica("b")];
  let current = a.url;
  let closed: Promise<void> | undefined;
  /** Closes the first replica during this step. From then on the address leads to the other one. */
  const closeDuring = (wanted: number) => {
    during = (step) => {
      if (step !== wanted || closed !== undefined) return;
      current = b.url;
      closed = a.app.close();
    };
  };
  return {
    a: a.url,
    b: b.url,
    ran,
    closeDuring,
    closed: () => closed,
    spin: (ms: number) => {
      during = () => {
        const from = Date.now();
        while (Date.now() - from < ms);
      };
    },
    place: {
      url: a.url,
      fetch: ((_url: unknown, init: RequestInit) => fetch(current, init)) as typeof fetch,
    },
  };
}

const eachOnce = Array.from({ length: steps }, (_, index) => index + 1);
const stepsIn = (ran: readonly string[]) => ran.map((line) => Number(line.split(" ")[1]));

test("at app.close() a call of twelve steps loses none: the response has the state, and another instance goes on", async () => {
  const { a, b, ran, closeDuring, closed } = await pair();
  closeDuring(8);
  const first = await callTool(a, "walk");
  expect(Object.keys(first.result ?? {}).toSorted()).toEqual([
    "_meta",
    "requestState",
    "resultType",
  ]);
  await closed();
  expect(ran).toEqual(eachOnce.slice(0, 8).map((step) => `a ${step}`));
  expect(textIn(await callTool(b, "walk", {}, { requestState: tokenIn(first) }))).toBe("walked");
  expect(ran.slice(8)).toEqual(eachOnce.slice(8).map((step) => `b ${step}`));
});

test("the official client goes on with another instance, without noticing", async () => {
  const { place, ran, closeDuring, closed } = await pair();
  closeDuring(5);
  const client = await connectV2(place, new People(), modern);
  onTestFinished(() => client.close());
  expect((await client.tool("walk")).text).toBe("walked");
  expect(stepsIn(ran)).toEqual(eachOnce);
  expect(ran.slice(4, 6)).toEqual(["a 5", "b 6"]);
  await closed();
});

test("so does Parley's client", async () => {
  const { place, ran, closeDuring, closed } = await pair();
  closeDuring(5);
  const connection = await connect(place.url, { fetch: place.fetch });
  onTestFinished(() => connection.close());
  expect((await connection.call("walk")).text).toBe("walked");
  expect(stepsIn(ran)).toEqual(eachOnce);
  await closed();
});

test("limits.roundMs spreads a long call over rounds, and leaves the official client enough of its ten", async () => {
  const { place, ran, spin } = await pair({ limits: { roundMs: 1 } });
  spin(2);
  let requests = 0;
  const counting = ((url: string, init: RequestInit) => {
    if (JSON.stringify(init.body).includes("tools/call")) requests += 1;
    return place.fetch(url, init);
  }) as typeof fetch;
  const client = await connectV2({ url: place.url, fetch: counting }, new People(), modern);
  onTestFinished(() => client.close());
  expect((await client.tool("walk")).text).toBe("walked");
  expect(stepsIn(ran)).toEqual(eachOnce);
  // Seven rounds with one step each, and an eighth with the rest.
  expect(requests).toBe(8);
});
