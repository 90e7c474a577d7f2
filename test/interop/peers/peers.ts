// The peers: what each needs, how it is installed at its version into a folder of its own, and how its programs start.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

export interface Peer {
  readonly name: string;
  readonly version: string;
  /** Whether it has the tasks extension. */
  readonly hasTasks: { readonly client: boolean; readonly server: boolean };
  /** The only version of the protocol that it speaks, if it does not speak all that Parley speaks. */
  readonly speaks?: "2025-11-25";
  /** The program without which it cannot be installed, and how to ask for its version. */
  readonly toolchain: Command;
  /** Installs it and builds its programs. Does nothing if that has been done. */
  readonly install: () => void;
  readonly client: Command;
  readonly server: Command;
  /** Its programs for 2025-11-25, if one build does not speak both versions. */
  readonly legacy?: { readonly client: Command; readonly server: Command };
}

type Command = readonly [string, ...string[]];

/** Outside the repository, so that nothing of a peer becomes a dependency. */
const cache = process.env["PARLEY_INTEROP_CACHE"] ?? join(tmpdir(), "parley-interop");
const sources = fileURLToPath(new URL(".", import.meta.url));

function run(cwd: string, command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

/** A fresh copy of our programs for this peer, beside what is installed. */
function copied(name: string, prefix: string): string {
  const source = join(prefix, "src");
  rmSync(source, { recursive: true, force: true });
  mkdirSync(prefix, { recursive: true });
  cpSync(join(sources, name), source, { recursive: true });
  return source;
}

function goPeer(name: string, version: string, hasTasks: Peer["hasTasks"]): Peer {
  const prefix = join(cache, `${name}-${version}`);
  return {
    name,
    version,
    hasTasks,
    toolchain: ["go", "version"],
    install: () => {
      const source = copied(name, prefix);
      for (const program of ["client", "server"]) {
        run(source, "go", "build", "-mod=readonly", "-o", join(prefix, program), `./${program}`);
      }
    },
    client: [join(prefix, "client")],
    server: [join(prefix, "server")],
  };
}

/** The version of Python that makes the environment. Set PARLEY_PYTHON if "python3" is older than 3.11. */
const python = process.env["PARLEY_PYTHON"] ?? "python3";

function pythonPeer(name: string, version: string, hasTasks: Peer["hasTasks"]): Peer {
  const prefix = join(cache, `${name}-${version}`);
  const source = join(prefix, "src");
  const installed = join(prefix, "bin", "python");
  return {
    name,
    version,
    hasTasks,
    toolchain: [python, "-c", "import sys, venv; assert sys.version_info >= (3, 11)"],
    install: () => {
      copied(name, prefix);
      run(prefix, python, "-m", "venv", ".");
      run(source, installed, "-m", "pip", "install", "--quiet", "-r", "requirements.txt");
    },
    client: [installed, join(source, "client.py")],
    server: [installed, join(source, "server.py")],
  };
}

const copyJars = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies";

function javaPeer(name: string, version: string, hasTasks: Peer["hasTasks"]): Peer {
  const prefix = join(cache, `${name}-${version}`);
  const [jars, classes] = [join(prefix, "jars"), join(prefix, "classes")];
  const java = ["java", "-cp", [classes, join(jars, "*")].join(delimiter)] as const;
  return {
    name,
    version,
    hasTasks,
    speaks: "2025-11-25",
    toolchain: ["mvn", "--version"],
    install: () => {
      const source = copied(name, prefix);
      run(source, "mvn", "-q", "-B", copyJars, `-DoutputDirectory=${jars}`);
      const programs = ["Client.java", "Server.java"];
      run(source, "javac", "-nowarn", "-cp", join(jars, "*"), "-d", classes, ...programs);
    },
    client: [...java, "Client"],
    server: [...java, "Server"],
  };
}

const programsIn = (folder: string) =>
  ({ client: [join(folder, "client")], server: [join(folder, "server")] }) as const;

/** Two programs of one crate. With `hasLegacy`, the feature "legacy" of the crate builds them for 2025-11-25. */
function rustPeer(
  name: string,
  version: string,
  hasTasks: Peer["hasTasks"],
  hasLegacy = false,
): Peer {
  const prefix = join(cache, `${name}-${version}`);
  // The crates that two peers need are built once.
  const target = join(cache, "rust-target");
  const legacy = join(prefix, "legacy");
  const build = (source: string, folder: string, ...features: readonly string[]) => {
    mkdirSync(folder, { recursive: true });
    run(source, "cargo", "build", "--quiet", "--locked", "--target-dir", target, ...features);
    for (const program of ["client", "server"]) {
      copyFileSync(join(target, "debug", program), join(folder, program));
    }
  };
  return {
    name,
    version,
    hasTasks,
    toolchain: ["cargo", "--version"],
    install: () => {
      const source = copied(name, prefix);
      build(source, prefix);
      if (hasLegacy) build(source, legacy, "--features", "legacy");
    },
    ...programsIn(prefix),
    ...(hasLegacy && { legacy: programsIn(legacy) }),
  };
}

const none = { client: false, server: false };
const both = { client: true, server: true };

export const peers: readonly Peer[] = [
  goPeer("go-sdk", "1.8.0", none),
  pythonPeer("python-sdk", "2.3.0", none),
  pythonPeer("fastmcp", "4.1.2", both),
  javaPeer("java-sdk", "2.1.0", none),
  rustPeer("rmcp", "3.8.0", both),
  rustPeer("neva", "0.9.0", both, true),
];

export function isInstalled([command, ...args]: Command): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What a program prints until it ends. */
export function printed([command, ...args]: Command, ...more: string[]): Promise<string> {
  const child = spawn(command, [...args, ...more], { stdio: ["ignore", "pipe", "inherit"] });
  const limit = setTimeout(() => child.kill("SIGKILL"), 120_000);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(limit);
      if (code === 0) resolve(text);
      else reject(new Error(`${command} ended with ${code}.`));
    });
  });
}

/** Starts a server and waits for the line that has its URL. */
export async function started([command, ...args]: Command): Promise<{
  readonly url: string;
  readonly stop: () => void;
}> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${command} ended with ${code}.`)));
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const [line] = /^http:\S+$/m.exec(text) ?? [];
      if (line !== undefined && text.includes(`${line}\n`)) resolve(line);
    });
  });
  return { url, stop: () => void child.kill("SIGKILL") };
}
