// Writes package-lock.json so that `npm ci` works on every machine and with every registry:
//   - without the addresses that packages were downloaded from, because they differ between registries;
//   - with the optional packages of all platforms, even those that the current registry does not have. npm leaves such
//     packages out of the lock file and then refuses the lock file because they are missing.

import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Locked {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

const file = "package-lock.json";
// In a folder of its own, because next to node_modules npm copies what is installed there.
const folder = mkdtempSync(join(tmpdir(), "parley-lock-"));
cpSync("package.json", join(folder, "package.json"));
execFileSync(
  "npm",
  [
    "install",
    "--package-lock-only",
    "--no-audit",
    "--no-fund",
    "--omit-lockfile-registry-resolved=false",
  ],
  { stdio: "inherit", cwd: folder },
);
const lock = parse(readFileSync(join(folder, file), "utf8"));
rmSync(folder, { recursive: true });
const packages = new Map(
  Object.entries(lock.packages).map(([path, { resolved: _resolved, ...locked }]) => [path, locked]),
);
let added = 0;
for (const { optionalDependencies = {} } of packages.values()) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const path = `node_modules/${name}`;
    const isExact = /^\d+\.\d+\.\d+[\w.-]*$/.test(version);
    if (packages.has(path) || !isExact) continue;
    packages.set(path, { version, ...platformOf(name), dev: true, optional: true });
    added += 1;
  }
}
const sorted = [...packages].toSorted(([one], [other]) => (one < other ? -1 : 1));
writeFileSync(
  file,
  `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`,
);
console.log(`${file}: ${sorted.length} packages, ${added} of them added for other platforms`);

function parse(text: string): { readonly packages: Readonly<Record<string, Locked>> } {
  const written: unknown = JSON.parse(text);
  if (isLock(written)) return written;
  throw new Error("npm wrote a lock file without a list of packages. Has its format changed?");
}

function isLock(value: unknown): value is { packages: Record<string, Locked> } {
  return typeof value === "object" && value !== null && "packages" in value;
}

/** The platform that a package's name stands for: `@oxfmt/binding-linux-arm64-musl` is for Linux on ARM with musl. */
function platformOf(name: string): Record<string, readonly string[]> {
  const words = name.split(/[/-]/);
  const systems = [
    "win32",
    "darwin",
    "linux",
    "freebsd",
    "netbsd",
    "openbsd",
    "android",
    "openharmony",
  ];
  const os = systems.filter((system) => words.includes(system));
  const cpus = ["x64", "arm64", "arm", "ia32", "ppc64", "riscv64", "s390x", "loong64", "wasm32"];
  const cpu = cpus.filter((one) => words.includes(one));
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return {
    ...(os.length === 0 ? {} : { os }),
    ...(cpu.length === 0 ? {} : { cpu }),
    ...(libc.length === 0 ? {} : { libc }),
  };
}
