// Installed size: the packed package and everything that npm installs with it, against the official SDK alone and tmcp,
// each with what its server needs.

import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { root } from "../../scripts/package.ts";
import { installPackage } from "../build.ts";
import { short, table } from "../figures.ts";

interface Manifest {
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export async function measureSize({ figures, folder }: Bench): Promise<void> {
  const dist = await installPackage(folder);
  const own = await manifestIn(root);
  const documents = (own.files ?? []).filter((file) => file !== "dist");
  const alwaysPacked = ["package.json", "README.md", "LICENSE"];
  const parts = [dist, ...[...documents, ...alwaysPacked].map((file) => join(root, file))];
  const ownBytes = sum(await Promise.all(parts.map(bytesOf)));

  const parley = await closure(root, neededBy(own));
  const sdk = await closure(root, ["@modelcontextprotocol/server", "@modelcontextprotocol/node"]);
  const tmcp = await closure(root, ["tmcp", "@tmcp/transport-http", "@tmcp/adapter-zod", "zod"]);
  const all = { packages: parley.packages + 1, bytes: parley.bytes + ownBytes };
  const rows = [["", "packages", "MiB"]];
  for (const [name, { packages, bytes }] of Object.entries({ parley: all, sdk, tmcp })) {
    rows.push([name, String(packages), short(bytes / 2 ** 20)]);
  }
  rows.push(["parley itself", "1", short(ownBytes / 2 ** 20)]);
  table(rows);
  figures.add("size/parley÷sdk", all.bytes / sdk.bytes);
  figures.add("size/parley÷tmcp", all.bytes / tmcp.bytes);
}

/** What npm installs with it, including peers that are not optional. */
function neededBy({ dependencies, peerDependencies, peerDependenciesMeta }: Manifest): string[] {
  const peers = Object.keys(peerDependencies ?? {});
  return [
    ...Object.keys(dependencies ?? {}),
    ...peers.filter((name) => peerDependenciesMeta?.[name]?.optional !== true),
  ];
}

async function closure(
  from: string,
  names: readonly string[],
): Promise<{ packages: number; bytes: number }> {
  const found = new Map<string, number>();
  const visit = async (folder: string, wanted: readonly string[]): Promise<void> => {
    for (const name of wanted) {
      const place = await resolved(folder, name);
      if (found.has(place)) continue;
      found.set(place, 0);
      found.set(place, await bytesOf(place));
      await visit(place, neededBy(await manifestIn(place)));
    }
  };
  await visit(from, names);
  return { packages: found.size, bytes: sum([...found.values()]) };
}

/** Looks for a package as Node does: here, then further up. */
async function resolved(folder: string, name: string): Promise<string> {
  for (let at = folder; at.startsWith(root.replace(/\/$/, "")); at = join(at, "..")) {
    const place = join(at, "node_modules", name);
    const found = await stat(join(place, "package.json")).catch(() => undefined);
    if (found !== undefined) return place;
  }
  throw new Error(`${name} is not installed.`);
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

/** The size of a file, or of a folder without the packages nested in it, which are counted separately. */
async function bytesOf(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.size;
  const names = (await readdir(path)).filter((name) => name !== "node_modules");
  return sum(await Promise.all(names.map((name) => bytesOf(join(path, name)))));
}

const sum = (of: readonly number[]) => of.reduce((all, each) => all + each, 0);
