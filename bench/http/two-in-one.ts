// The process of two builds of the fast entry, each on a port of its own: node two-in-one.js <build> <build>. Two processes of
// the very same program can differ by a tenth for as long as they run, depending on where their code and data happen to be in
// memory. In one process, both have the same luck.

import process from "node:process";
import { answering } from "../child.ts";
import type { Start } from "./opponents/opponent.ts";
import type { Usage } from "./server.ts";

interface Build {
  readonly startFast: Start;
}

async function portOf(file: string): Promise<number> {
  const { startFast }: Build = await import(file);
  return (await startFast()).port;
}

const ports: number[] = [];
for (const build of process.argv.slice(2)) ports.push(await portOf(build));

answering({
  ports: () => ports,
  usage: (): Usage => {
    const { user, system } = process.cpuUsage();
    return { cpuMicros: user + system, rss: process.memoryUsage.rss() };
  },
});
