// The races of approvals in short. `PARLEY_RACES=1000 npx vitest run test/approvals` plays many more of them.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresStore } from "mcp-parley/postgres";
import { sqliteStore } from "mcp-parley/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../postgres/database.ts";
import { kinds, Races } from "./races.ts";

const rounds = Number(process.env["PARLEY_RACES"] ?? 2);
const seed = Number(process.env["PARLEY_SEED"] ?? Date.now() % 1_000_000);

const stores = {
  sqlite: async () => {
    const folder = await mkdtemp(join(tmpdir(), "races-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    return (leaseMs?: number) => sqliteStore(join(folder, "tasks.db"), { leaseMs });
  },
  postgres: async () => {
    const database = await freshDatabase();
    onTestFinished(() => database.stop());
    return (leaseMs?: number) => postgresStore(database.url, { leaseMs });
  },
};

test.each(["sqlite", "postgres"] as const)(
  `decisions that race have one outcome and one entry on %s (seed ${seed})`,
  async (name) => {
    const open = await stores[name]();
    const both = [open(), open()];
    // Of processes that will be lost.
    const third = open(300);
    const races = await Races.open(both, third);
    onTestFinished(async () => {
      await races.close();
      for (const store of [...both, third]) await store.close();
    });
    for (let round = 0; round < rounds; round += 1) {
      for (const kind of kinds) {
        expect(await races.round(kind, seed + round), `seed ${seed + round}`).toBeUndefined();
      }
    }
  },
  120_000 + rounds * 20_000,
);
