// Packs the package once for a whole run of the tests, as `npm publish` would, from a copy so that `dist` stays untouched.

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { root } from "../../scripts/package.ts";

const run = promisify(execFile);

/** The package as strangers get it. */
export interface Packed {
  readonly tarball: string;
  /** The paths of its files. */
  readonly files: readonly string[];
}

export async function pack(): Promise<Packed & { readonly remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "parley-packed-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const staged = join(folder, "package");
    await mkdir(staged);
    const { files } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
    const copied = ["package.json", "LICENSE", "README.md", ...files].filter(
      (file) => file !== "dist",
    );
    for (const file of copied) await cp(join(root, file), join(staged, file));
    const build = ["--import", "tsx", "scripts/build.ts", join(staged, "dist")];
    await run(process.execPath, build, { cwd: root });
    const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    // On Windows npm is a batch file, which only a shell can run.
    const shell = process.platform === "win32";
    const { stdout } = await run("npm", args, { cwd: staged, shell });
    const [packed]: [{ filename: string; files: { path: string }[] }] = JSON.parse(stdout);
    const tarball = join(folder, packed.filename);
    return { tarball, files: packed.files.map(({ path }) => path), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
