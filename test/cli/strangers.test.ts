// Servers that are not ours: the official everything server, and the SDK's example behind its own OAuth.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createServer, get } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { leash } from "../programs.ts";
import { keys, parleyOnScreen } from "./screen.ts";
import { emptyFolder, parley, read, start } from "./run.ts";

const everything = fileURLToPath(
  import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
);
const command = ["--", process.execPath, everything, "stdio"];

describe("the everything server (2025-11-25, over standard input and output)", () => {
  test("lists and calls", async () => {
    const cwd = emptyFolder();
    const listed = await parley(["list", ...command], { cwd });
    expect(listed.stdout).toContain("2025-11-25");
    expect(listed.stdout).toContain("  echo\n");
    const sum = await parley(["call", "get-sum", "a=2", "b=3", ...command], { cwd });
    expect(sum).toMatchObject({ code: 0, stdout: "The sum of 2 and 3 is 5.\n" });
  });

  test("fills in a form with every kind of field", async () => {
    const screen = parleyOnScreen(["call", "trigger-elicitation-request", ...command], {
      cwd: emptyFolder(),
      env: { NO_COLOR: "1" },
    });
    onTestFinished(() => screen.kill("SIGKILL"));
    await screen.shows(/◆ {2}\S/);
    screen.press("Ada", keys.enter);
    // It asks for a dozen optional values. Enter accepts the default, or leaves the value out.
    for (let field = 0; field < 20; field += 1) {
      const before = screen.text();
      const isOver = await Promise.race([screen.ended.then(() => true), changed(screen, before)]);
      if (isOver) break;
      screen.press(keys.enter);
    }
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain("Ada");
  });
});

/** False once the screen shows a new prompt. */
async function changed(
  screen: ReturnType<typeof parleyOnScreen>,
  before: string,
): Promise<boolean> {
  const prompts = (shown: string) => shown.split("◇").length;
  await expect
    .poll(() => prompts(screen.text()) > prompts(before) && screen.text().includes("◆"))
    .toBe(true);
  return false;
}

/** The status of a request for exactly this path, which `fetch` would normalise. */
async function statusOf({ hostname: host, port }: URL, path: string): Promise<number | undefined> {
  const [response] = (await once(get({ host, port, path }), "response")) as [IncomingMessage];
  return response.resume().statusCode;
}

/** A port that is free, as is the one after it, below those that the system hands out by itself. */
async function freePort(): Promise<number> {
  for (let port = 21_000 + (process.pid % 10_000); port < 32_000; port += 2) {
    if ((await isFree(port)) && (await isFree(port + 1))) return port;
  }
  throw new Error("No two ports side by side are free.");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port), "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

describe("the SDK's example server behind OAuth", () => {
  async function started(): Promise<string> {
    const example = fileURLToPath(
      import.meta.resolve("@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js"),
    );
    const port = await freePort();
    const child = spawn(process.execPath, ["--import", leash.stdin, example, "--oauth"], {
      env: { ...process.env, MCP_PORT: String(port), MCP_AUTH_PORT: String(port + 1) },
      stdio: ["pipe", "pipe", "ignore"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes("Server listening")) break;
    }
    return `http://localhost:${port}/mcp`;
  }

  test("signs in once through the page that it prints, and remembers it", async () => {
    const url = await started();
    const cwd = emptyFolder();
    const env = { XDG_CONFIG_HOME: join(cwd, "config") };
    const stranger = await parley(["call", url, "greet", "name=Ada"], { cwd, env });
    expect(stranger).toMatchObject({ code: 1 });
    expect(stranger.stderr).toBe(
      "The server requires you to sign in: it received no token, or one that it does not accept. Pass --token or --login.\n",
    );

    const child = start(["call", url, "greet", "name=Ada", "--login"], { cwd, env });
    child.stdin.end();
    const printed = text(child.stdout);
    for await (const line of createInterface({ input: child.stderr })) {
      const [page] = /http:\/\/localhost:\d+\/authorize\S+/.exec(line) ?? [];
      if (page === undefined) continue;
      const forged = new URL(new URL(page).searchParams.get("redirect_uri") ?? "");
      expect(await statusOf(forged, "//")).toBe(404);
      forged.search = "?code=stolen&state=guessed";
      expect((await fetch(forged)).status).toBe(400);
      expect(await (await fetch(page)).text()).toContain("You are signed in");
      break;
    }
    expect(await printed).toBe("Hello, Ada!\n");

    const file = join(cwd, "config/parley/sign-ins.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const again = await parley(["call", url, "greet", "name=Bo", "--login"], { cwd, env });
    expect(again).toMatchObject({ code: 0, stdout: "Hello, Bo!\n" });
    const kept = read(readFileSync(file, "utf8"));
    const { tokens } = read(JSON.stringify(kept[url]));
    const [first] = Object.values(read(JSON.stringify(tokens)));
    const token = String(read(JSON.stringify(first))["access_token"]);
    const given = await parley(["call", url, "greet", "name=Cy"], {
      cwd,
      env: { ...env, PARLEY_TOKEN: token },
    });
    expect(given).toMatchObject({ code: 0, stdout: "Hello, Cy!\n" });
  });
});
