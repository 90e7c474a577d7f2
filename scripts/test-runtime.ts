// Tries the built package on other runtimes: `npm run test:runtime -- node24 bun deno workerd`, without names on all of
// them. Each runtime comes from npm into a folder of its own outside the repository, serves an app there, and is called
// over HTTP.

import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { newKey } from "../src/token/keyring.ts";
import { bakery } from "../test/runtime/bakery.ts";
import { contract } from "../test/runtime/cloudflare/contract.ts";
import { flow } from "../test/runtime/cloudflare/flow.ts";
import type { Running } from "../test/runtime/cloudflare/flow.ts";
import { people, peopleOfTenants } from "../test/runtime/cloudflare/people.ts";
import { tenants } from "../test/runtime/cloudflare/tenants.ts";
import { smoke } from "../test/runtime/smoke.ts";
import { root } from "./package.ts";
import {
  cloudflare,
  ownKiB,
  workers,
  writeCloudflare,
  writeContract,
  writeProgram,
  writeWorker,
} from "./runtime-program.ts";
import type { WorkerProgram } from "./runtime-program.ts";
import { type Runtime, runtimes } from "./runtimes.ts";
import { writeConfig } from "./workerd-config.ts";

/** How long a runtime may take to start on a busy machine. */
const patienceMs = 60_000;

const asked = process.argv.slice(2);
const unknown = asked.find((name) => runtimes[name] === undefined);
if (unknown !== undefined) {
  console.error(`There is no runtime "${unknown}". Use ${Object.keys(runtimes).join(", ")}.`);
  process.exit(2);
}

function npmInstall(folder: string, packages: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const npm = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", [...npm, ...packages], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`npm could not install ${packages.join(" ")}.`);
}

/** The runtime stays for the next time. What it runs is copied there anew. */
function installed(runtime: Runtime): string {
  const folder = join(tmpdir(), "parley-runtimes", runtime.package.replaceAll(/[^\w.-]/g, "-"));
  const done = join(folder, "installed");
  if (existsSync(done)) return folder;
  const { devDependencies }: { devDependencies: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const others = ["@modelcontextprotocol/server", "libsql"];
  console.log(`Installing ${runtime.package}…`);
  npmInstall(folder, [
    runtime.package,
    ...others.map((name) => `${name}@${devDependencies[name]}`),
  ]);
  writeFileSync(done, "");
  return folder;
}

/** The package as it is published, without packing it. */
function put(dist: string, folder: string): void {
  const place = join(folder, "node_modules/mcp-parley");
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  copyFileSync(join(root, "package.json"), join(place, "package.json"));
  cpSync(dist, join(place, "dist"), { recursive: true });
}

const key = newKey("smoke");

/** Starts the program. Resolves to its process and its address. */
async function started(runtime: Runtime, folder: string, program: string) {
  const executable = runtime.executable(join(folder, "node_modules"));
  const args = [...runtime.args, program];
  const child = spawn(executable, args, {
    cwd: mkdtempSync(join(tmpdir(), "parley-smoke-")),
    env: { ...process.env, PARLEY_KEYS: key, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  });
  try {
    return { child, url: await address(child, runtime.isWorker === true ? 3 : 1) };
  } catch (error) {
    child.kill();
    throw error;
  }
}

/** A Worker reports its port on a channel of its own, as JSON. The others print their address. */
async function address(child: ChildProcess, channel: 1 | 3): Promise<string> {
  const output = child.stdio[channel];
  if (!(output instanceof Readable)) throw new Error("The process has no output.");
  const late = setTimeout(() => child.kill(), patienceMs);
  try {
    for await (const line of createInterface(output)) {
      const [, url] = /^ready at (.*)$/.exec(line) ?? [];
      const [, port] = /"port":(\d+)/.exec(line) ?? [];
      if (url !== undefined) return url;
      if (port !== undefined) return `http://127.0.0.1:${port}/`;
    }
  } finally {
    clearTimeout(late);
  }
  throw new Error("It ended before it served anything.");
}

/** Runs a Worker with an object, on storage that outlives its process. */
async function withObject(
  runtime: Runtime,
  folder: string,
  script: string,
  use: (running: Running) => Promise<unknown>,
): Promise<void> {
  const storage = mkdtempSync(join(tmpdir(), "parley-objects-"));
  const config = writeConfig(folder, { script, key, storage });
  let current: ChildProcess | undefined;
  const start = async (): Promise<Running> => {
    const { child, url } = await started(runtime, folder, config);
    current = child;
    const restart = async () => {
      const hasEnded = once(child, "exit");
      child.kill("SIGKILL");
      await hasEnded;
      return start();
    };
    return { url, restart };
  };
  try {
    await use(await start());
  } finally {
    current?.kill("SIGKILL");
    rmSync(storage, { recursive: true, force: true });
  }
}

async function checkSize(folder: string, worker: WorkerProgram): Promise<void> {
  const size = await ownKiB(folder, worker);
  const { keeps, mostKiB } = worker;
  console.log(`  ${size.toFixed(1)} KiB of a Worker that keeps ${keeps}, gzipped, are mcp-parley`);
  if (size > mostKiB) throw new Error(`mcp-parley may take at most ${mostKiB} KiB of it.`);
}

async function tryWorkers(runtime: Runtime, folder: string): Promise<void> {
  for (const worker of workers) {
    await checkSize(folder, worker);
    const script = await writeWorker(folder, worker);
    await trySmoke(runtime, folder, writeConfig(folder, { script, key }));
  }
}

async function tryCloudflare(runtime: Runtime, folder: string): Promise<void> {
  await checkSize(folder, cloudflare);
  await withObject(runtime, folder, await writeContract(folder), ({ url }) =>
    contract(url, (line) => console.log(line)),
  );
  await withObject(runtime, folder, await writeCloudflare(folder, "worker"), (running) =>
    flow(running, (line) => console.log(line)),
  );
  await withObject(runtime, folder, await writeCloudflare(folder, "tenants-worker"), (running) =>
    tenants(running, (line) => console.log(line)),
  );
  await withObject(runtime, folder, await writeCloudflare(folder, "people-worker"), (running) =>
    people(running, "ann", (line) => console.log(line)),
  );
  const peopleOfMany = await writeCloudflare(folder, "people-tenants-worker");
  await withObject(runtime, folder, peopleOfMany, (running) =>
    peopleOfTenants(running, (line) => console.log(line)),
  );
}

async function trySmoke(runtime: Runtime, folder: string, program: string): Promise<void> {
  await tryProgram(runtime, folder, program, (url) =>
    smoke(url, runtime.isWorker !== true, (line) => console.log(line)),
  );
}

async function tryProgram(
  runtime: Runtime,
  folder: string,
  program: string,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const { child, url } = await started(runtime, folder, program);
  try {
    await use(url);
  } finally {
    child.kill("SIGKILL");
  }
}

/** The server that the page about the runtime shows. */
async function tryServer(runtime: Runtime, folder: string, server: string): Promise<void> {
  const program = await writeProgram(folder, server);
  await tryProgram(runtime, folder, program, (url) => bakery(url, (line) => console.log(line)));
}

async function tryOut(name: string, runtime: Runtime, dist: string): Promise<void> {
  const folder = installed(runtime);
  put(dist, folder);
  console.log(name);
  if (runtime.isWorker !== true) {
    await trySmoke(runtime, folder, await writeProgram(folder));
    if (runtime.server !== undefined) await tryServer(runtime, folder, runtime.server);
    return;
  }
  await tryWorkers(runtime, folder);
  await tryCloudflare(runtime, folder);
}

const dist = mkdtempSync(join(tmpdir(), "parley-dist-"));
const build = spawnSync(
  process.execPath,
  ["--import", "tsx", join(root, "scripts/build.ts"), dist],
  {
    cwd: root,
    stdio: "inherit",
  },
);
if (build.status !== 0) throw new Error("The package could not be built.");
const failed: string[] = [];
for (const [name, runtime] of Object.entries(runtimes)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  try {
    await tryOut(name, runtime, dist);
  } catch (error) {
    console.error(error);
    failed.push(name);
  }
}
rmSync(dist, { recursive: true, force: true });
if (failed.length > 0) {
  console.error(`The smoke suite failed on ${failed.join(", ")}.`);
  process.exitCode = 1;
} else console.log("The smoke suite passed.");
