// Compiles the repository once for a whole run of the tests: `node` starts a compiled program in a quarter of the time
// that `tsx` needs.

import { execFile } from "node:child_process";
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { root, tsc } from "../../scripts/package.ts";
import { isAlive } from "../postgres/processes.ts";
import { bundle } from "./bundle.ts";
import { bundledPrograms } from "./shared.ts";

/** Below node_modules, so that Node finds the packages from there. */
const cache = join(root, "node_modules/.cache/parley-tests");
const hourMs = 3_600_000;

export interface Compiled {
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/**
 * Puts `src`, `test`, `examples` and `bench` as JavaScript into a new folder, at the paths that they have here. The
 * folder is a package named mcp-parley, so a program in it that imports "mcp-parley" gets the compiled source. The
 * programs that are started most are there a second time, bundled.
 */
export async function compile(): Promise<Compiled> {
  await mkdir(cache, { recursive: true });
  await removeStale();
  // The path as Node shows it to the programs in the folder, because node_modules may be a link.
  const folder = await realpath(await mkdtemp(join(cache, `${process.pid}-`)));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const bundled = join(folder, bundledPrograms);
    await mkdir(bundled);
    await Promise.all([
      writePackage(folder),
      writePackage(bundled),
      copyPlainScripts(folder),
      emit(folder),
      bundle(bundled),
    ]);
  } catch (error) {
    await remove();
    throw error;
  }
  return { folder, remove };
}

async function writePackage(folder: string): Promise<void> {
  const manifest = await readFile(join(root, "package.json"), "utf8");
  await writeFile(join(folder, "package.json"), manifest.replaceAll('"./dist/', '"./src/'));
}

/** The files that are already JavaScript, which the compiler does not copy. */
async function copyPlainScripts(folder: string): Promise<void> {
  const files = await readdir(join(root, "test"), { recursive: true });
  const scripts = files.filter((file) => file.endsWith(".mjs"));
  await Promise.all(
    scripts.map((file) => cp(join(root, "test", file), join(folder, "test", file))),
  );
}

async function emit(folder: string): Promise<void> {
  const project = join(folder, "tsconfig.json");
  const config = {
    extends: join(root, "tsconfig.json"),
    // `npm run check` checks the types. Without them there is no need to look for what a file imports.
    compilerOptions: {
      noEmit: false,
      noCheck: true,
      noResolve: true,
      types: [],
      paths: {},
      rootDir: root,
      outDir: folder,
    },
    include: ["src", "test", "examples", "bench"].map((part) => join(root, part)),
    exclude: [join(root, "test/package/consumer"), join(root, "examples/**/.run*")],
  };
  await writeFile(project, JSON.stringify(config));
  await promisify(execFile)(process.execPath, [tsc, "-p", project]);
}

/** Folders of runs that were killed before they could remove them. */
async function removeStale(): Promise<void> {
  for (const name of await readdir(cache)) {
    const folder = join(cache, name);
    const { mtimeMs = Date.now() } = (await stat(folder).catch(() => undefined)) ?? {};
    if (isAlive(Number.parseInt(name, 10)) || Date.now() - mtimeMs < hourMs) continue;
    await rm(folder, { recursive: true, force: true });
  }
}
