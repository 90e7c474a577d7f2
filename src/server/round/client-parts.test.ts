// When parts stop, nothing is left behind: no timer, and no block that the client has only a fragment of.

import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import type { PartParams } from "../../protocol/streaming.ts";
import { gate } from "../../../test/gate.fixture.ts";
import { patience } from "../../../test/patience.ts";
import { OutgoingResponse, sendNow } from "../http/fast/outgoing.ts";
import { checkedLimits } from "../limits.ts";
import { nodeEnvironment } from "../ops/environment.ts";
import { ClientParts, mostUnread } from "./client-parts.ts";
import type { PartChannel } from "./client-parts.ts";

const text = (of: string) => [{ type: "text" as const, text: of }];

/** Parts on a channel, with timers that the test fires. */
function parts(room: () => Promise<unknown> | undefined, more: Partial<PartChannel> = {}) {
  const sent: PartParams[] = [];
  const timers = new Set<() => void>();
  const environment = {
    ...nodeEnvironment,
    eventually: (_ms: number, callback: () => void) => {
      timers.add(callback);
      return () => void timers.delete(callback);
    },
  };
  const send = (params: PartParams) => {
    sent.push(params);
    return room();
  };
  const sink = new ClientParts("s", { send, ...more }, { environment, limits: checkedLimits({}) });
  return { sink, sent, timers };
}

test("a client with room gets every part, and nothing waits", () => {
  const { sink, sent, timers } = parts(() => undefined);
  expect(sink.send({ block: "a", content: text("1") })).toBeUndefined();
  expect(sink.send({ block: "a", op: "reset" })).toBeUndefined();
  expect(sent).toEqual([
    { token: "s", block: "a", content: text("1") },
    { token: "s", block: "a", op: "reset" },
  ]);
  expect(timers.size).toBe(0);
});

test("without room the body waits, and goes on when there is some", async () => {
  const room = gate();
  const { sink, timers } = parts(() => room.opened);
  const waiting = sink.send({ block: "a", content: text("1") });
  expect(timers.size).toBe(1);
  room.open();
  await waiting;
  expect(timers.size).toBe(0);
});

test("a client that reads nothing for too long gets no more parts, and no fragment", async () => {
  const { sink, sent, timers } = parts(() => new Promise(() => {}));
  const whole = sink.send({ block: "whole", content: text("1") });
  const waiting = sink.send({ block: "cut", content: text("1") });
  for (const stalled of timers) stalled();
  await Promise.all([whole, waiting]);
  sent.splice(0);
  for (let i = 0; i < 3; i += 1) {
    expect(sink.send({ block: "cut", content: text("2") })).toBeUndefined();
    expect(sink.send({ block: "later", content: text("1") })).toBeUndefined();
  }
  expect(sent).toEqual([{ token: "s", block: "cut", op: "reset" }]);
});

test("where nothing can be counted, parts stop after a number of bytes", () => {
  const { sink, sent } = parts(() => undefined, { mostBytes: 1_000 });
  for (let i = 0; i < 10; i += 1) void sink.send({ block: "a", content: text("x".repeat(300)) });
  expect(sent.map(({ op }) => op)).toEqual([undefined, undefined, "reset"]);
});

test("a response that was not read leaves no listener behind, whether its client reads or disconnects", async () => {
  let res: ServerResponse | undefined;
  const server = createServer((_req, response) => {
    res = response;
  }).listen(0);
  onTestFinished(() => void server.close());
  for (const way of ["reads", "disconnects"]) {
    const socket = connect((server.address() as AddressInfo).port);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    res = undefined;
    await vi.waitFor(() => expect(res).toBeDefined(), patience);
    const response: ServerResponse = res!;
    const before = response.listenerCount("drain") + response.listenerCount("close");
    const outgoing = new OutgoingResponse(response, sendNow);
    for (let i = 0; i < 1_000 && outgoing.room() === undefined; i += 1) {
      outgoing.notify("notifications/x", { text: "x".repeat(64 * 1024) });
    }
    expect(response.writableLength).toBeGreaterThan(mostUnread);
    const room = outgoing.room();
    if (way === "reads") socket.resume();
    else socket.destroy();
    await room;
    outgoing.abandon();
    expect(response.listenerCount("drain") + response.listenerCount("close")).toBe(before);
    expect(outgoing.room()).toBeUndefined();
    socket.destroy();
  }
});
