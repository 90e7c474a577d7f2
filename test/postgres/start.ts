// A real Postgres for a test file. It ends with the process that started it.

import { execFile, spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { dataTemplate, findBinaries, serverUser, workshop } from "./binaries.ts";
import { childrenOf, commandOf, isAlive, kill } from "./processes.ts";

const run = promisify(execFile);

export interface Postgres {
  readonly url: string;
  readonly port: number;
  /** The process id of the postmaster. It changes with a restart. */
  readonly pid: number;
  /** Its folder in the temp folder. */
  readonly folder: string;
  /** Stops the server and removes its data. */
  readonly stop: () => Promise<void>;
  /** Sends `kill -9` to the postmaster and all its children, as a power cut would, except that the disk keeps its cache. */
  readonly kill: () => void;
  /** Starts the server again with the same data on the same port, whether or not it was killed. */
  readonly restart: () => Promise<void>;
}

export interface StartOptions {
  /** Settings besides the defaults, which keep fsync on, because the tests check durability. */
  readonly settings?: Readonly<Record<string, string>>;
}

const hourMs = 3_600_000;

const defaults = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "100",
  // In the data folder, so that a killed server leaves nothing behind elsewhere.
  dynamic_shared_memory_type: "mmap",
};

export async function startPostgres({ settings }: StartOptions = {}): Promise<Postgres> {
  const [binaries, user] = await Promise.all([findBinaries(), serverUser()]);
  const template = await dataTemplate(binaries, user);
  await removeStale();
  const folder = await mkdtemp(join(await workshop(), "run-"));
  await chmod(folder, 0o755);
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const keeper = new Keeper({
    folder,
    postgres: join(binaries.bin, "postgres"),
    user,
    settings: { ...defaults, ...settings },
  });
  try {
    await writeFile(join(folder, "keeper"), String(keeper.pid));
    await run("cp", ["-R", template, join(folder, "data")], { ...user, cwd: "/" });
    await chmod(join(folder, "data"), 0o700);
    const { port, pid } = await startOnFreePort(keeper);
    return new Running(keeper, folder, port, pid);
  } catch (error) {
    await keeper.end();
    throw error;
  }
}

class Running implements Postgres {
  readonly url: string;
  readonly port: number;
  readonly folder: string;
  readonly #keeper: Keeper;
  #pid: number;

  constructor(keeper: Keeper, folder: string, port: number, pid: number) {
    this.#keeper = keeper;
    this.#pid = pid;
    this.folder = folder;
    this.port = port;
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  }

  get pid(): number {
    return this.#pid;
  }

  readonly stop = (): Promise<void> => this.#keeper.end();

  readonly kill = (): void => killFamily(this.#pid);

  readonly restart = async (): Promise<void> => {
    const outcome = await this.#keeper.say("restart");
    if (outcome.pid === undefined) throw new Error(`Postgres did not start: ${outcome.failed}`);
    this.#pid = outcome.pid;
  };
}

async function startOnFreePort(keeper: Keeper): Promise<{ port: number; pid: number }> {
  let failed = "";
  // Another process may take the port before the server does.
  for (let attempt = 0; attempt < 5; attempt++) {
    const port = await freePort();
    const outcome = await keeper.say(`start ${port}`);
    if (outcome.pid !== undefined) return { port, pid: outcome.pid };
    failed = outcome.failed ?? "";
    if (!failed.includes("could not bind")) break;
  }
  throw new Error(`Postgres did not start: ${failed}`);
}

interface Outcome {
  readonly pid?: number;
  readonly failed?: string;
}

class Keeper {
  readonly pid: number;
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #waiting: ((outcome: Outcome) => void)[] = [];
  readonly #ended: Promise<void>;

  constructor(what: object) {
    const script = fileURLToPath(new URL("keeper.mjs", import.meta.url));
    this.#process = spawn(process.execPath, [script, JSON.stringify(what)], {
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "" },
      // It has its own process group, so that Ctrl-C does not end it before its work is done.
      detached: true,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.pid = this.#process.pid ?? 0;
    this.#process.stdin.on("error", () => {});
    createInterface({ input: this.#process.stdout }).on("line", (line) => {
      const outcome: Outcome = JSON.parse(line);
      this.#waiting.shift()?.(outcome);
    });
    this.#ended = new Promise((resolve) => {
      this.#process.once("close", () => {
        for (const done of this.#waiting.splice(0)) done({ failed: "the keeper is gone" });
        resolve();
      });
    });
  }

  readonly say = (line: string): Promise<Outcome> =>
    new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#process.stdin.write(`${line}\n`);
    });

  readonly end = (): Promise<void> => {
    this.#process.stdin.end();
    return this.#ended;
  };
}

/** The children are listed before the parent is killed, because afterwards they no longer have that parent. */
function killFamily(pid: number): void {
  const children = childrenOf(pid);
  kill(pid);
  for (const child of children) kill(child);
}

/** Removes folders whose keeper was killed as well. */
async function removeStale(): Promise<void> {
  const base = await workshop();
  const names = (await readdir(base)).filter((name) => /^(run|draft)-/.test(name));
  for (const name of names) {
    const folder = join(base, name);
    const keeper = Number(await readFile(join(folder, "keeper"), "utf8").catch(() => "0"));
    // A folder without the note is being made now, or was left behind by a process that died while it made the folder.
    const isDead = keeper === 0 ? (await ageMs(folder)) > hourMs : !isAlive(keeper);
    if (!isDead) continue;
    const note = await readFile(join(folder, "data", "postmaster.pid"), "utf8").catch(() => "");
    const postmaster = Number.parseInt(note, 10);
    if (postmaster > 0 && commandOf(postmaster).includes(folder)) killFamily(postmaster);
    await rm(folder, { recursive: true, force: true });
  }
}

async function ageMs(folder: string): Promise<number> {
  const made = await stat(folder).catch(() => undefined);
  return made === undefined ? 0 : Date.now() - made.mtimeMs;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
