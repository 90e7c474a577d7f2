// SIGTERM to a real process, as in every deployment, while a body runs. What the body returns is recorded, so no effect
// is repeated.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "mcp-parley/client";
import { expect, onTestFinished, test } from "vitest";
import { newKey } from "../../src/token/keyring.ts";
import { freshDatabase } from "../postgres/database.ts";
import { bakery } from "./leaving-process.ts";
import type { LeavingOrders } from "./leaving-process.ts";
import { openStore } from "./place.ts";
import type { Place } from "./place.ts";
import { ReplicaProcess } from "./replica-process.ts";

async function placeOf(kind: Place["kind"]): Promise<Place> {
  const leaseMs = 60_000;
  if (kind === "postgres") {
    const { url, stop } = await freshDatabase();
    onTestFinished(stop);
    return { kind, at: url, leaseMs };
  }
  const folder = await mkdtemp(join(tmpdir(), "parley-leaving-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return { kind, at: join(folder, "parley.db"), leaseMs };
}

test.for(["sqlite", "postgres"] as const)(
  "a replica that is told to end records what its running bodies return (%s)",
  async (kind) => {
    const orders: LeavingOrders = { place: await placeOf(kind), keys: newKey("test") };
    const replica = new ReplicaProcess("leaving-process.ts", orders);
    onTestFinished(() => replica.kill("SIGKILL"));
    const { url } = await replica.hears((said) => "url" in said, "url");
    const connection = await connect(String(url), {
      elicit: () => ({ action: "accept", content: { what: "cake" } }),
    });
    onTestFinished(() => connection.close());
    const baking = connection.start("bake");
    const ordering = connection.call("order");
    let taskId: string | undefined;
    for await (const event of baking) {
      if (event.type !== "task") continue;
      ({ taskId } = event);
      break;
    }
    for (const step of ["bake", "order"])
      await replica.hears(({ ran }) => ran === step, `ran ${step}`);
    replica.kill("SIGTERM");
    expect((await ordering).text).toBe("cake, baked");
    await replica.gone;

    const here: string[] = [];
    const next = bakery(orders, (step) => void here.push(step));
    onTestFinished(() => next.close());
    await next.work();
    const store = openStore(orders.place);
    onTestFinished(() => store.close());
    await expect.poll(async () => (await store.read(taskId ?? ""))?.status).toBe("completed");
    expect(here).toEqual(["ice"]);
  },
);
