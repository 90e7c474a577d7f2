// Which bodies are given up if too many arrive at the same time, and how much is read of a body that the app does not
// need.

import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { RequestBodies } from "./request-body.ts";
import { forgetBody } from "./turn-away.ts";
import { UnfinishedBodies } from "./unfinished-bodies.ts";

test("the oldest body is given up, and each counts as a kilobyte more than it holds", () => {
  const bodies = new UnfinishedBodies(10 * 1_024);
  const givenUp: number[] = [];
  for (let n = 0; n < 12; n += 1) {
    bodies.count(bodies.add({ held: 1, giveUp: () => void givenUp.push(n) }));
  }
  expect(givenUp).toEqual([0, 1, 2]);
});

test("a body that has ended no longer counts, so a slow one is not given up because of it", async () => {
  const bodies = new RequestBodies(1024 * 1024);
  const arriving = () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: readable, duplex: "half" as const };
    return { read: bodies.ofWeb(new Request("http://127.0.0.1", init)), to: writable.getWriter() };
  };
  const slow = arriving();
  await slow.to.write(Buffer.from("[1"));
  // Together they hold 32 MiB, and 16 MiB is the most.
  for (let n = 0; n < 32; n += 1) {
    const { read, to } = arriving();
    await to.write(Buffer.from("[2".padEnd(512 * 1024)));
    await to.write(Buffer.from("]"));
    await to.close();
    expect(await read).toEqual({ kind: "json", json: [2] });
  }
  await slow.to.write(Buffer.from("]"));
  await slow.to.close();
  expect(await slow.read).toEqual({ kind: "json", json: [1] });
});

test.each([
  ["256 chunks are read and forgotten", 256, false],
  ["one more chunk cuts the connection at once", 257, true],
])("%s", async (_, chunks, isCut) => {
  const req = new IncomingMessage(new Socket());
  forgetBody(req);
  for (let n = 0; n < chunks; n += 1) req.push(Buffer.from("x"));
  for (let turns = 0; turns < 3; turns += 1) await turn();
  expect(req.destroyed).toBe(isCut);
  req.destroy();
});
