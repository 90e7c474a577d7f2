import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, watch } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { afterEach, expect, test, vi } from "vitest";
import { program } from "../programs.ts";
import { childrenOf, isAlive } from "./processes.ts";
import { startPostgres } from "./start.ts";
import type { Postgres } from "./start.ts";

// Starting a server can take long on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const started: Postgres[] = [];
const processes: ChildProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((postgres) => postgres.stop()));
  for (const child of processes.splice(0)) child.kill("SIGKILL");
});

async function start(): Promise<Postgres> {
  const postgres = await startPostgres();
  started.push(postgres);
  return postgres;
}

async function ask<Row>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows as Row[];
}

function gone(folder: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(dirname(folder), () => {
      if (existsSync(folder)) return;
      watcher.close();
      resolve();
    });
    if (existsSync(folder)) return;
    watcher.close();
    resolve();
  });
}

async function hold(): Promise<{ holder: ChildProcess; folder: string; pid: number }> {
  const holder = spawn(process.execPath, [...program("test/postgres/holder.ts")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  processes.push(holder);
  const [line] = await new Promise<[string]>((resolve, reject) => {
    createInterface({ input: holder.stdout }).once("line", (text) => resolve([text]));
    holder.once("exit", () => reject(new Error("the holder ended")));
  });
  return { holder, ...(JSON.parse(line) as { folder: string; pid: number }) };
}

test("the server starts, syncs to disk and responds", async () => {
  const { url } = await start();
  expect(await ask(url, "select 1 + 1 as sum, current_setting('fsync') as fsync")).toEqual([
    { sum: 2, fsync: "on" },
  ]);
});

test("several can start at once, each with its own data", async () => {
  const servers = await Promise.all([start(), start(), start()]);
  await Promise.all(servers.map(({ url }) => ask(url, "create table mine ()")));
  expect(new Set(servers.map(({ port }) => port)).size).toBe(3);
});

test("stop leaves no process and no folder", async () => {
  const { pid, folder, stop } = await startPostgres();
  const family = [pid, ...childrenOf(pid)];
  await stop();
  expect(family.filter(isAlive)).toEqual([]);
  expect(existsSync(folder)).toBe(false);
});

test("committed data is there after kill and restart", async () => {
  const postgres = await start();
  const { url, pid } = postgres;
  await ask(url, "create table kept (n int); insert into kept values (7)");
  const family = [pid, ...childrenOf(pid)];
  expect(family.length).toBeGreaterThan(3);
  postgres.kill();
  await postgres.restart();
  expect(family.filter(isAlive)).toEqual([]);
  expect(postgres.pid).not.toBe(pid);
  expect(await ask(url, "select n from kept")).toEqual([{ n: 7 }]);
});

test("kill -9 of the process that started it leaves no process and no folder", async () => {
  const { holder, folder, pid } = await hold();
  const family = [pid, ...childrenOf(pid)];
  expect(isAlive(pid)).toBe(true);
  holder.kill("SIGKILL");
  await gone(folder);
  expect(family.filter(isAlive)).toEqual([]);
});

test("the next start removes what a killed keeper left behind", async () => {
  const { holder, folder, pid } = await hold();
  const family = [pid, ...childrenOf(pid)];
  const keeper = Number(readFileSync(join(folder, "keeper"), "utf8"));
  process.kill(keeper, "SIGKILL");
  holder.kill("SIGKILL");
  await start();
  await gone(folder);
  expect(family.filter(isAlive)).toEqual([]);
});

test("the folder of a running server is left alone", async () => {
  const first = await start();
  await writeFile(join(first.folder, "note"), basename(first.folder));
  await start();
  expect(existsSync(join(first.folder, "note"))).toBe(true);
  expect(await ask(first.url, "select 1 as one")).toEqual([{ one: 1 }]);
});
