import { afterAll, beforeAll, vi } from "vitest";
import { describeTaskStore } from "../../../testing/store/contract.ts";
import { TestServer } from "./server.fixture.ts";

// Starting a server can take its time on a busy machine.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let server: TestServer;
// What is on the disk is looked at in outages.test.ts.
const settings = { fsync: "off" };
beforeAll(async () => void (server = await TestServer.startAlone({ settings })));
afterAll(() => server.stop());

describeTaskStore("Postgres", ({ startsAt }) => server.openAt(startsAt));
