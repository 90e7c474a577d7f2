// A real PgBouncer in transaction mode, in front of a Postgres of the tests. It ends with `stop`, or with this process.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { serverUser, workshop } from "../postgres/binaries.ts";
import type { Database } from "../postgres/database.ts";

export interface Pooler {
  /** The connection string to use instead of that of the database. */
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** Fewer than the clients of any test, so that statements of one client run on several of them. */
const serverConnections = 4;

export async function startPooler({ url }: Pick<Database, "url">): Promise<Pooler> {
  const user = await serverUser();
  const folder = await mkdtemp(join(await workshop(), "pooler-"));
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  const behind = new URL(url);
  const port = await freePort();
  const config = join(folder, "pgbouncer.ini");
  await writeFile(
    config,
    `[databases]
* = host=${behind.hostname} port=${behind.port} user=${behind.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 1000
`,
    { mode: 0o644 },
  );
  const child = spawn("pgbouncer", [config], {
    ...user,
    cwd: "/",
    // Debian keeps it where only root looks.
    env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/usr/local/sbin` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const end = () => void child.kill("SIGKILL");
  process.once("exit", end);
  const stop = async (): Promise<void> => {
    process.off("exit", end);
    const ended = child.exitCode === null && child.signalCode === null && once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const failed = new Promise<never>((_resolve, reject) => {
    child.once("error", (error) => reject(missing(error)));
    child.once("exit", (code) => reject(new Error(`PgBouncer ended with ${code}.`)));
  });
  failed.catch(() => {});
  try {
    await Promise.race([failed, isUp(child.stderr)]);
  } catch (error) {
    if (child.pid !== undefined) await stop();
    throw error;
  }
  behind.port = String(port);
  return { url: behind.href, stop };
}

/** Its log says when it listens. The rest of the log is read, too, so that it never waits for a reader. */
function isUp(log: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    createInterface(log).on("line", (line) => {
      if (line.includes("process up")) resolve();
    });
  });
}

const missing = (cause: Error): Error =>
  new Error(
    "PgBouncer is not installed. On Debian and Ubuntu, run: apt-get install pgbouncer. On macOS, run: brew install pgbouncer.",
    { cause },
  );

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
}
