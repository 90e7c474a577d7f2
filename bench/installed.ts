// Packages that only the benchmark uses, and that are too large for everyone who clones the repository: they come from npm,
// at a pinned version, into a folder of their own in the temporary folder, and stay there for the next run.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** The `node_modules` that holds it. `wanted` is `name@version`. */
export async function installed(wanted: string): Promise<string> {
  const folder = join(tmpdir(), "parley-bench-packages", wanted.replaceAll(/[^\w.-]/g, "-"));
  const done = join(folder, "installed");
  if (!existsSync(done)) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
    const args = ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
    try {
      await promisify(execFile)("npm", [...args, wanted], {
        cwd: folder,
        shell: process.platform === "win32",
      });
    } catch (cause) {
      await rm(folder, { recursive: true, force: true });
      throw new Error(`npm could not install ${wanted}.`, { cause });
    }
    await writeFile(done, "");
  }
  return join(folder, "node_modules");
}
