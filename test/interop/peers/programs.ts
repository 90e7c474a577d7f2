// The programs of peers: runs them and reads what they print.

import { execFileSync, spawn } from "node:child_process";

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** Whether a program is there and ends well. */
export function works([command, ...args]: Command): boolean {
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
