// Compiles what is measured, so that it runs under plain `node`, as the package does. Under `tsx`, every function that
// a request creates would be given a name, and every error a source map. The replicas of test/chaos, which are started
// by the dozen, also start in a fifth of the time.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { root, tsc } from "../scripts/package.ts";

const run = promisify(execFile);

/** Compiles these files and what they import into the folder. Paths are relative to the root of the repository. */
export async function build(folder: string, files: readonly string[]): Promise<Built> {
  const out = join(folder, "built");
  const config = {
    extends: join(root, "tsconfig.json"),
    // The types are checked elsewhere.
    compilerOptions: { noEmit: false, noCheck: true, types: [], rootDir: root, outDir: out },
    files: files.map((file) => join(root, file)),
    include: [],
    exclude: [],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await linkPackages(folder);
  await compile(join(folder, "tsconfig.json"));
  return (file) => join(out, file.replace(/\.ts$/, ".js"));
}

/** Builds the package as for a release and installs it where the compiled programs find it. Returns its `dist`. */
export async function installPackage(folder: string): Promise<string> {
  const installed = join(folder, "node_modules/mcp-parley");
  const dist = join(installed, "dist");
  if (!existsSync(installed)) {
    const script = join(root, "scripts/build.ts");
    await run(process.execPath, ["--import", import.meta.resolve("tsx"), script, dist]);
    await copyFile(join(root, "package.json"), join(installed, "package.json"));
  }
  return dist;
}

/** Links every installed package except OpenTelemetry, which is for the tests: a plain install does not have it. */
async function linkPackages(folder: string): Promise<void> {
  const [from, to] = [join(root, "node_modules"), join(folder, "node_modules")];
  await mkdir(to);
  const names = (await readdir(from)).filter((name) => name !== "@opentelemetry");
  await Promise.all(names.map((name) => symlink(join(from, name), join(to, name))));
}

/** The path of a compiled file. */
export type Built = (file: string) => string;

async function compile(project: string): Promise<void> {
  try {
    await run(process.execPath, [tsc, "-p", project]);
  } catch (cause) {
    const said = cause instanceof Error && "stdout" in cause ? String(cause.stdout) : "";
    throw new Error(`The code does not compile, so it cannot be measured: ${said.trim()}`, {
      cause,
    });
  }
}
