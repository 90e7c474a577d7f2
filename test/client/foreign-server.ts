// Servers of other packages as processes of their own, which end with this one, however that ends.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** They end with whoever holds the other end of their standard input. */
const leash = "data:text/javascript,process.stdin.on('end',()=>process.exit(1))";
/** Those that do not read it themselves. */
const readingLeash = `${leash}.resume().unref()`;

export interface ForeignServer {
  readonly url: string;
  readonly end: () => void;
}

/** As a command that a client starts. */
export function foreignCommand(module: string, ...args: readonly string[]) {
  const file = fileURLToPath(import.meta.resolve(module));
  return { command: process.execPath, args: ["--import", leash, file, ...args] };
}

/** Over HTTP: it gets its port by an environment variable, and prints that it listens when it does. */
export async function foreignHttp(
  module: string,
  args: readonly string[],
  portName: string,
): Promise<ForeignServer> {
  const port = await freePort();
  const file = fileURLToPath(import.meta.resolve(module));
  const child = spawn(process.execPath, ["--import", readingLeash, file, ...args], {
    env: { ...process.env, [portName]: String(port) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  await Promise.any([saysThatItListens(child.stdout), saysThatItListens(child.stderr)]);
  return { url: `http://127.0.0.1:${port}/mcp`, end: () => void child.kill("SIGKILL") };
}

function saysThatItListens(output: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve, reject) => {
    createInterface({ input: output })
      .on("line", (line) => {
        if (line.includes("listening")) resolve();
      })
      .on("close", () => reject(new Error("the server has ended before it listened")));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("there is no free port");
  return address.port;
}
