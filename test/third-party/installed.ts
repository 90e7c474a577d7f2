// Clients that others wrote, each in a folder of its own outside the repository, at one version.

import { execFile, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import type { CallTool } from "../reach/follows-text.ts";

const run = promisify(execFile);

/** A client, and the packages that it needs. The driver with its name calls tools through it. */
export interface ThirdParty {
  readonly name: string;
  readonly from: "npm" | "PyPI";
  readonly packages: readonly string[];
}

export const clients: readonly ThirdParty[] = [
  { name: "inspector", from: "npm", packages: ["@modelcontextprotocol/inspector@2.12.0"] },
  { name: "mcporter", from: "npm", packages: ["mcporter@0.12.3"] },
  { name: "ai-sdk", from: "npm", packages: ["@ai-sdk/mcp@2.0.96"] },
  { name: "mastra", from: "npm", packages: ["@mastra/mcp@2.0.0", "@mastra/core@1.71.0"] },
  {
    name: "langchain",
    from: "npm",
    // A newer version of the graph does not go with this version of the core.
    packages: [
      "@langchain/mcp-adapters@1.1.4",
      "@langchain/core@1.2.13",
      "@langchain/langgraph@1.4.10",
    ],
  },
  {
    name: "mcpjam",
    from: "npm",
    // It does not work with the newest version of the official client that it allows.
    packages: ["@mcpjam/sdk@1.14.0", "@modelcontextprotocol/client@2.0.0-alpha.2"],
  },
  { name: "python-sdk", from: "PyPI", packages: ["mcp==2.3.0"] },
  { name: "fastmcp-client", from: "PyPI", packages: ["fastmcp==4.1.0"] },
];

/** Installs a client unless it is there, and returns the command of its driver. Rejects if it cannot be installed. */
export async function installed({ name, from, packages }: ThirdParty): Promise<string[]> {
  const folder = join(
    tmpdir(),
    "parley-third-party",
    `${name}-${packages.join("+")}`.replaceAll("/", "_"),
  );
  mkdirSync(folder, { recursive: true });
  const copied = (file: string) => {
    copyFileSync(new URL(`drivers/${file}`, import.meta.url), join(folder, file));
    return join(folder, file);
  };
  const done = join(folder, "installed");
  if (from === "PyPI") {
    const python = join(folder, "venv", "bin", "python");
    if (!existsSync(done)) {
      await run("python3", ["-m", "venv", join(folder, "venv")]);
      await run(python, ["-m", "pip", "install", "-q", ...packages]);
      writeFileSync(done, "");
    }
    return [python, copied(`${name}.py`)];
  }
  if (!existsSync(done)) {
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    // Code of others runs only when it is called.
    const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder];
    await run("npm", ["install", ...options, ...packages]);
    writeFileSync(done, "");
  }
  copied("lines.mjs");
  return [process.execPath, copied(`${name}.mjs`)];
}

/** Starts the driver of a client. It ends with its input. */
export function driven(
  [command = "", ...args]: readonly string[],
  url: string,
): { readonly call: CallTool; readonly end: () => void } {
  const child = spawn(command, [...args, url], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    call: async (name, sent) => {
      child.stdin.write(`${JSON.stringify({ name, args: sent })}\n`);
      // Some clients print more than they were asked for.
      for (let n = 0; n < 1_000; n += 1) {
        const { done, value } = await lines.next();
        if (done === true) throw new Error("The client has ended.");
        if (!value.startsWith('{"texts"')) continue;
        const { texts }: { readonly texts: readonly string[] } = JSON.parse(value);
        return texts;
      }
      throw new Error("The client prints, but not what it was asked for.");
    },
    end: () => {
      child.stdin.end();
      child.kill();
    },
  };
}
