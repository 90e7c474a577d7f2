// Starts servers of other packages as processes. They end with this process, even if it is killed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Ends the process when its standard input closes. */
const leash = "data:text/javascript,process.stdin.on('end',()=>process.exit(1))";
/** The servers that do not read their standard input themselves. */
const readingLeash = `${leash}.resume().unref()`;

export interface ForeignServer {
  readonly url: string;
  readonly end: () => void;
}

/** The command that a client runs to start the server. */
export function foreignCommand(module: string, ...args: readonly string[]) {
  const file = fileURLToPath(import.meta.resolve(module));
  return { command: process.execPath, args: ["--import", leash, file, ...args] };
}

/** Starts the server over HTTP. It reads its port from an environment variable and prints a line when it listens. */
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
      .on("close", () => reject(new Error("The server ended before it was listening.")));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
}
