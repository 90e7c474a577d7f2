// `parley init`: a server to start from.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import process from "node:process";
import type { Command, Io } from "../command.ts";
import { Usage } from "../command.ts";
import { packages, scripts, starter } from "../init/files.ts";
import { parsed } from "../args/parsed.ts";
import { style } from "../screen/style.ts";

export const init: Command = {
  help: `parley init [folder]

Writes a server with one tool that asks, its test, and the scripts to run them.
A file that is there already is never touched. Nothing is installed or fetched:
it says at the end which commands come next.

  app.ts         the tool
  app.test.ts    its test: answers, a refusal, and every crash on the way
  server.ts      serves it on port 3000 (or PORT)
  package.json   scripts: dev, call, test, check, start

  npx mcp-parley init my-server
  npx mcp-parley init            in the folder you are in
`,
  run: (args, io) => {
    const { positionals } = parsed("init", args, {});
    const [given = ".", ...rest] = positionals;
    if (rest.length > 0) throw new Usage("init: name one folder");
    const folder = resolve(given);
    mkdirSync(folder, { recursive: true });
    for (const { path, text } of starter(nameFor(folder))) {
      const file = join(folder, path);
      const what = writeNew(file, text) ? style.green("written") : style.yellow("kept   ");
      io.err(`  ${what}  ${relative(process.cwd(), file)}\n`);
    }
    if (!hasAll(readFileSync(join(folder, "package.json"), "utf8"))) tellWhatIsMissing(io);
    tellWhatIsNext(relative(process.cwd(), folder), io);
  },
};

/** False: there is one already. */
function writeNew(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** What npm takes for a package's name. */
function nameFor(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, "-")
    .replaceAll(/^[._-]+|-+$/g, "");
  return name === "" ? "my-server" : name;
}

/** A package.json that was there may have some of it: `npm install mcp-parley` alone leaves one without scripts. */
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
  err(`\nYour package.json was left as it is. What it needs:\n\n`);
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
  npm run call -- book_table guests=2    (in another terminal: you are asked)
`);
}
