// The public surface, entry by entry: `api/<entry>.d.ts` holds what a user of that entry sees, so that a change of it
// shows in review. `npm run api` writes the files. `npm run api:check` fails when one of them is out of date, when a
// name or a member has no documentation, or when a signature uses a type that neither its entry nor the main one exports.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
} from "@microsoft/api-extractor";
import type { ExtractorMessage } from "@microsoft/api-extractor";
import { libraryEntries, root, tsc } from "./package.ts";
import type { Entry } from "./package.ts";

const isCheck = process.argv.includes("--check");
// Inside the project, so that the declarations find the packages they import.
const cache = join(root, ".cache/api");

/** The name of an entry's file in `api`. */
const fileName = (subpath: string) =>
  subpath === "." ? "index" : subpath.slice(2).replaceAll("/", "-");

const declarationsOf = ({ file }: Entry) => join(cache, "dist", `${file}.d.ts`);
const rollupOf = ({ subpath }: Entry) => join(cache, `${fileName(subpath)}.d.ts`);

function configOf(entry: Entry): ExtractorConfig {
  const declarations = declarationsOf(entry);
  const quiet = { default: { logLevel: ExtractorLogLevel.None } };
  const loud = { logLevel: ExtractorLogLevel.Error };
  return ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, "package.json"),
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: declarations,
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "es2023",
            // API Extractor cannot follow the web's globals (Request, Response) through @types/node.
            lib: ["es2023", "dom", "dom.iterable"],
            module: "nodenext",
            types: ["node"],
            strict: true,
            exactOptionalPropertyTypes: true,
            skipLibCheck: true,
          },
          files: [declarations],
        },
      },
      apiReport: { enabled: false },
      docModel: { enabled: false },
      tsdocMetadata: { enabled: false },
      dtsRollup: { enabled: true, untrimmedFilePath: rollupOf(entry) },
      messages: {
        compilerMessageReporting: { default: loud },
        tsdocMessageReporting: quiet,
        extractorMessageReporting: { ...quiet, "ae-forgotten-export": loud },
      },
    },
  });
}

/** One file with everything that the entry exports, and what is wrong with it. */
function extract(
  name: string,
  config: ExtractorConfig,
  compilerState: CompilerState,
  elsewhere: ReadonlySet<string>,
): { text: string; problems: string[] } {
  const problems: string[] = [];
  const messageCallback = (message: ExtractorMessage) => {
    message.handled = true;
    const [, missing = ""] = /^The symbol "(\w+)" needs to be exported/.exec(message.text) ?? [];
    if (message.logLevel !== ExtractorLogLevel.Error || elsewhere.has(missing)) return;
    problems.push(`${name}: ${message.text}`);
  };
  Extractor.invoke(config, { localBuild: true, messageCallback, compilerState });
  const text = readFileSync(config.untrimmedFilePath, "utf8");
  return { text, problems: [...problems, ...undocumented(name, text)] };
}

const declaration = /^export declare (?:abstract )?(?:function|const|class|interface|type) (\w+)/;
const member = /^\s+(?:readonly )?(["~\w$]+)\??(?:: |<|\()/;
const discriminant = /^\s+readonly \w+: "\w+";$/;

/**
 * In the roll-up every declaration and every member begins a line of its own, so if the line above it does not end a
 * comment, it has no comment. Only what tells the variants of a union apart needs no comment.
 */
function undocumented(name: string, rollup: string): string[] {
  const lines = rollup.split("\n");
  return lines.flatMap((line, index) => {
    const [, found] = declaration.exec(line) ?? member.exec(line) ?? [];
    if (found === undefined || found === "constructor" || discriminant.test(line)) return [];
    const isDocumented = lines[index - 1]?.trimEnd().endsWith("*/") === true;
    return isDocumented ? [] : [`${name}: "${found}" has no documentation: ${line.trim()}`];
  });
}

rmSync(cache, { recursive: true, force: true });
mkdirSync(cache, { recursive: true });
const project = join(root, "tsconfig.build.json");
// `npm run typecheck` checks the types.
const emit = [tsc, "-p", project, "--noCheck", "--outDir", join(cache, "dist")];
execFileSync(process.execPath, emit, { stdio: "inherit" });
mkdirSync(join(root, "api"), { recursive: true });

const problems: string[] = [];
const names = new Set<string>();
/** What users can import from the main entry, which comes first. */
const ofMain = new Set<string>();
const entries = libraryEntries().map((entry) => ({ entry, config: configOf(entry) }));
const [main] = entries;
if (main === undefined) throw new Error("package.json has no entries.");
// One program for all entries, because the compiler takes most of the time.
const compilerState = CompilerState.create(main.config, {
  additionalEntryPoints: entries.map(({ config }) => config.mainEntryPointFilePath),
});
for (const { entry, config } of entries) {
  const name = fileName(entry.subpath);
  names.add(`${name}.d.ts`);
  const extracted = extract(name, config, compilerState, ofMain);
  if (entry.subpath === ".") {
    for (const [, found = ""] of extracted.text.matchAll(
      /^export (?:declare )?(?:abstract )?\w+ (\w+)/gm,
    )) {
      ofMain.add(found);
    }
  }
  problems.push(...extracted.problems);
  const file = join(root, "api", `${name}.d.ts`);
  if (!isCheck) writeFileSync(file, extracted.text);
  else if (read(file) !== extracted.text) {
    problems.push(`api/${name}.d.ts is out of date: look at what changes with npm run api`);
  }
}
for (const file of readdirSync(join(root, "api"))) {
  if (names.has(file)) continue;
  if (isCheck) problems.push(`api/${file} belongs to no entry of package.json: run npm run api`);
  else rmSync(join(root, "api", file));
}
rmSync(cache, { recursive: true, force: true });

const unique = [...new Set(problems)];
for (const problem of unique) console.error(problem);
console.log(`api: ${names.size} entries, ${unique.length} problems`);
if (unique.length > 0) process.exitCode = 1;

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
