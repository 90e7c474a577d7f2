// The suite for all stores, on Postgres.

import { afterAll, beforeAll, describe, test, vi } from "vitest";
import { storeContract } from "../../../testing/store/contract.ts";
import { TestServer } from "./server.fixture.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer;
// outages.test.ts tests what is on the disk.
const settings = { fsync: "off" };
beforeAll(async () => void (server = await TestServer.startAlone({ settings })));
afterAll(() => server.stop());

const contract = storeContract(({ startsAt }) => server.openAt(startsAt));
for (const { name, run } of contract) test(name, run, 300_000);

describe("without LISTEN", () => {
  const quiet = storeContract(({ startsAt }) => server.openAt(startsAt, { listen: false }));
  for (const { name, run } of quiet) test(name, run, 300_000);
});
