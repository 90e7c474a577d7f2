import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { closeWithConnection } from "./pipelined.ts";

const count = 20;

/** This many pipelined requests, both ends of their connection, and their unwritten responses. */
async function pipelined() {
  const responses: ServerResponse[] = [];
  const closed: number[] = [];
  const server = createServer();
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void client.destroy());
  const [connection] = (await once(server, "connection")) as [Socket];
  const before = connection.listenerCount("close");
  const allHere = new Promise<void>((resolve) => {
    server.on("request", (req, res) => {
      closeWithConnection(res, req.socket);
      const at = responses.push(res);
      res.on("close", () => closed.push(at));
      if (at === count) resolve();
    });
  });
  client.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(count));
  await allHere;
  return { client, connection, responses, closed, before };
}

test.each([0, 10_000_000])(
  "when the connection ends, each response is closed once (%i bytes on their way)",
  async (bytes) => {
    const { client, connection, responses, closed } = await pipelined();
    if (bytes > 0) responses[0]?.end(Buffer.alloc(bytes));
    // A response that was written before its turn is lost, too.
    responses[1]?.end("one");
    responses[5]?.end("five");
    client.destroy();
    await new Promise((resolve) => connection.once("close", resolve));
    await new Promise(setImmediate);
    expect(closed.toSorted((one, other) => one - other)).toEqual(responses.map((_, at) => at + 1));
    expect(responses.every(({ destroyed }) => destroyed)).toBe(true);
  },
);

test("responses that were sent leave nothing on the connection", async () => {
  const { client, connection, responses, closed, before } = await pipelined();
  client.resume();
  const last = once(responses.at(-1) ?? connection, "close");
  for (const response of responses) response.end("one");
  await last;
  expect(closed).toHaveLength(count);
  expect(connection.listenerCount("close")).toBe(before);
});
