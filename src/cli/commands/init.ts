// `parley init`: creates a server to start from.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import process from "node:process";
import type { Command, Io } from "../command.ts";
import { UsageError } from "../command.ts";
import { packages, scripts, starter } from "../init/starter.ts";
import { parseOptions } from "../args/command-line.ts";
import { style } from "../screen/style.ts";

/** `parley init` */
export const init: Command = {
  help: `Creates a server with one tool that asks questions, and a test for it.

Usage
  parley init [folder]

The default is the current folder. Existing files are never changed. Nothing
is installed: the command prints the next steps.

Files
  app.ts         the tool
  app.test.ts    its test: answers, a refusal, and a crash at every step
  server.ts      serves the tool on port 3000, or on PORT
  package.json   scripts: dev, call, test, check, start
  tsconfig.json, .gitignore

Examples
  npx mcp-parley init my-server
  npx mcp-parley init

Exit codes
  0 done, 1 failed, 2 usage error
`,
  run: (args, io) => {
    const { positionals } = parseOptions("init", args, {});
    const [given = ".", ...rest] = positionals;
    if (rest.length > 0) throw new UsageError("init: pass at most one folder");
    const folder = resolve(given);
    mkdirSync(folder, { recursive: true });
    for (const { path, text } of starter(nameFor(folder))) {
      const file = join(folder, path);
      const what = writeNew(file, text) ? style.green("created") : style.yellow("exists ");
      io.err(`  ${what}  ${relative(process.cwd(), file)}\n`);
    }
    if (!hasAll(readFileSync(join(folder, "package.json"), "utf8"))) tellWhatIsMissing(io);
    tellWhatIsNext(relative(process.cwd(), folder), io);
  },
};

/** Writes a file. False if it exists. */
function writeNew(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** The folder's name as a valid package name. */
function nameFor(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[._-]+|-+$/g, "");
  return name === "" ? "my-server" : name;
}

/** Whether a package.json has everything. `npm install mcp-parley` alone creates one without scripts. */
function hasAll(text: string): boolean {
  let manifest: {
    readonly type?: string;
    readonly scripts?: Readonly<Record<string, string>>;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly devDependencies?: Readonly<Record<string, string>>;
  };
  try {
    manifest = JSON.parse(text);
  } catch {
    return false;
  }
  const { dependencies, devDependencies } = packages();
  const needed = Object.keys({ ...dependencies, ...devDependencies });
  const installed = { ...manifest.dependencies, ...manifest.devDependencies };
  return (
    manifest.type === "module" &&
    Object.keys(scripts).every((name) => manifest.scripts?.[name] !== undefined) &&
    needed.every((name) => installed[name] !== undefined)
  );
}

function tellWhatIsMissing({ err }: Io): void {
  const { dependencies, devDependencies } = packages();
  const set = Object.entries(scripts).map(([name, line]) => `scripts.${name}="${line}"`);
  err(`\nYour package.json was not changed. Run these commands to complete it:\n\n`);
  err(`  npm pkg set type=module ${set.slice(0, 1).join("")} \\\n`);
  err(`    ${set.slice(1).join(" \\\n    ")}\n`);
  err(`  npm install ${Object.keys(dependencies).join(" ")}\n`);
  err(`  npm install -D ${Object.keys(devDependencies).join(" ")}\n`);
}

function tellWhatIsNext(folder: string, { out }: Io): void {
  const enter = folder === "" ? "" : `cd ${folder} && `;
  out(`
Next:
  ${enter}npm install && npm test
  npm run dev
  npm run call -- book_table guests=2    (in another terminal)
`);
}
