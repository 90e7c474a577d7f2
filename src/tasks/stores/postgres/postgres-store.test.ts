// The suite for all stores, on Postgres.

import { afterAll, beforeAll, vi } from "vitest";
import { describeTaskStore } from "../../../testing/store/contract.ts";
import { TestServer } from "./server.fixture.ts";

// On a busy machine, a server may take long to start.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let server: TestServer;
// outages.test.ts tests what is on the disk.
const settings = { fsync: "off" };
beforeAll(async () => void (server = await TestServer.startAlone({ settings })));
afterAll(() => server.stop());

describeTaskStore("Postgres", ({ startsAt }) => server.openAt(startsAt));
