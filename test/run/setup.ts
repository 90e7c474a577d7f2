// What the test files of one run share: a compiled copy of the repository, the packed package, and a Postgres server with a
// database for each file that asks for one. Each is made on the first request, in this process, which outlives all
// files. A run of a few unit tests makes none of them.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import pg from "pg";
import { startPostgres } from "../postgres/start.ts";
import type { Postgres } from "../postgres/start.ts";
import { compile } from "./compile.ts";
import { pack } from "./pack.ts";
import { placeOfRun } from "./shared.ts";

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // The runner calls this for each of its projects.
  if (process.env[placeOfRun] !== undefined) return undefined;
  const compiled = once(compile);
  const packed = once(pack);
  const databases = once(Databases.start);
  const responses: Record<string, () => Promise<unknown>> = {
    "/compiled": async () => (await compiled.get()).folder,
    "/packed": () => packed.get(),
    "/database": async () => (await databases.get()).fresh(),
  };
  const server = createServer((request, response) => {
    const respond =
      responses[request.url ?? ""] ?? (() => Promise.reject(new Error("No such thing")));
    respond().then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port, not on a pipe
  const { port } = server.address() as AddressInfo;
  process.env[placeOfRun] = `http://127.0.0.1:${port}`;
  return async () => {
    delete process.env[placeOfRun];
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
    await (await compiled.made)?.remove();
    await (await packed.made)?.remove();
    await (await databases.made)?.end();
  };
}

/** One server, which ends with this process even if it is killed, and the databases in it. */
class Databases {
  readonly #postgres: Postgres;
  readonly #admin: pg.Pool;
  #count = 0;

  static readonly start = async (): Promise<Databases> =>
    // Several files use it at once, some with a dozen pools.
    new Databases(await startPostgres({ settings: { max_connections: "400" } }));

  private constructor(postgres: Postgres) {
    this.#postgres = postgres;
    // One after the other, because Postgres copies a template for one database at a time.
    this.#admin = new pg.Pool({ connectionString: postgres.url, max: 1 });
    this.#admin.on("error", () => {});
  }

  /** An empty database, copied from Postgres's own template, which nothing else uses. */
  readonly fresh = async (): Promise<{ readonly url: string; readonly port: number }> => {
    this.#count += 1;
    const name = `file_${this.#count}`;
    await this.#admin.query(`create database ${name} template template0`);
    const { port } = this.#postgres;
    return { url: `postgres://postgres@127.0.0.1:${port}/${name}`, port };
  };

  readonly end = async (): Promise<void> => {
    await this.#admin.end();
    await this.#postgres.stop();
  };
}

interface Once<T> {
  readonly get: () => Promise<T>;
  /** What was made. Undefined if nothing was made, or if making it failed. */
  readonly made: Promise<T | undefined>;
}

function once<T>(make: () => Promise<T>): Once<T> {
  let made: Promise<T> | undefined;
  return {
    get: () => (made ??= make()),
    get made() {
      return made?.catch(() => undefined) ?? Promise.resolve(undefined);
    },
  };
}
