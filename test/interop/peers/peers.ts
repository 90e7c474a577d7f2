// The peers: what each needs, how it is installed at its version into a folder of its own, and how its programs start.

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { works } from "./programs.ts";
import type { Command } from "./programs.ts";

export interface Peer {
  readonly name: string;
  readonly version: string;
  /** Whether it has the tasks extension. */
  readonly hasTasks: { readonly client: boolean; readonly server: boolean };
  /** The only version of the protocol that it speaks, if it does not speak all that Parley speaks. */
  readonly speaks?: "2025-11-25";
  /** Why it cannot be installed here, as the end of a sentence. */
  readonly missing: () => string | undefined;
  /** Installs it and builds its programs. Does nothing if that has been done. */
  readonly install: () => void;
  readonly client: Command;
  readonly server: Command;
  /** Its programs for 2025-11-25, if one build does not speak both versions. */
  readonly legacy?: { readonly client: Command; readonly server: Command };
  /** The server of its own tutorial. */
  readonly tutorial?: Command;
  /** What its programs were built from, if that is not its package alone. */
  readonly built?: string;
}

/** The program without which a peer cannot be installed, and arguments with which it ends well. */
const needs = (toolchain: Command) => ({
  missing: () => (works(toolchain) ? undefined : `"${toolchain[0]}" is not installed`),
});

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
    ...needs(["go", "version"]),
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
const python = () => process.env["PARLEY_PYTHON"] ?? "python3";

function pythonPeer(name: string, version: string, hasTasks: Peer["hasTasks"]): Peer {
  const prefix = join(cache, `${name}-${version}`);
  const source = join(prefix, "src");
  const installed = join(prefix, "bin", "python");
  return {
    name,
    version,
    hasTasks,
    missing: () =>
      works([python(), "-c", "import sys, venv; assert sys.version_info >= (3, 11)"])
        ? undefined
        : `"${python()}" is not Python 3.11 or later`,
    install: () => {
      copied(name, prefix);
      run(prefix, python(), "-m", "venv", ".");
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
    ...needs(["mvn", "--version"]),
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
    ...needs(["cargo", "--version"]),
    install: () => {
      const source = copied(name, prefix);
      build(source, prefix);
      if (hasLegacy) build(source, legacy, "--features", "legacy");
    },
    ...programsIn(prefix),
    ...(hasLegacy && { legacy: programsIn(legacy) }),
  };
}

/** The folder with the programs of mcpkit: `client`, `server`, and `tutorial`, the server of its tutorial. */
const builtMcpkit = () => process.env["PARLEY_INTEROP_MCPKIT"] ?? join(cache, "mcpkit-0.5.2");

/** Its module is not on the Go proxy, so its programs are built elsewhere. */
const mcpkit: Peer = {
  name: "mcpkit",
  version: "0.5.2",
  hasTasks: { client: true, server: true },
  built:
    " (commit a953a7bcb06ceda7a7c96ee09b52b2d4b1d1c89e), built with its servicekit at commit " +
    "29636823d44bde26c55ab1800590709507822269 instead of 0.1.4, to which a stand-in for WithListener was added, and " +
    "with its gocurrent at commit 59957f482216cd61940cbbe03a8cee3605e3773b instead of 0.1.2",
  missing: () =>
    existsSync(join(builtMcpkit(), "server"))
      ? undefined
      : "the Go proxy does not have its module, and PARLEY_INTEROP_MCPKIT names no folder with its programs",
  install: () => {},
  ...programsIn(builtMcpkit()),
  tutorial: [join(builtMcpkit(), "tutorial")],
};

const none = { client: false, server: false };
const both = { client: true, server: true };

export const peers: readonly Peer[] = [
  goPeer("go-sdk", "1.8.0", none),
  pythonPeer("python-sdk", "2.3.0", none),
  pythonPeer("fastmcp", "4.1.2", both),
  javaPeer("java-sdk", "2.1.0", none),
  mcpkit,
  rustPeer("rmcp", "3.8.0", both),
  rustPeer("neva", "0.9.0", both, true),
];

/** What to say of a peer that cannot be run here. */
export function skippedAs({ name, missing }: Peer): string | undefined {
  const why = missing();
  return why === undefined ? undefined : `${name} is skipped, because ${why}.`;
}
