// Stands between a test process and its server. It holds the reading end of a pipe. When the test process ends for any
// reason, the pipe closes, and the keeper stops the server and removes its folder. It is plain JavaScript, so that it
// starts at once.
//
// Reads lines: "start <port>" and "restart". Writes lines: { "pid" } or { "failed" }.

import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const { folder, postgres, user, settings } = JSON.parse(process.argv[2] ?? "{}");
const readyLine = "database system is ready to accept connections";
/** A shared memory block is in use until the last process of a killed server is gone. */
const inUse = "is still in use";

let server;
let port = "";

const lines = createInterface({ input: process.stdin });
let turn = Promise.resolve();
lines.on("line", (line) => {
  turn = turn.then(() => obey(line));
});
lines.on("close", () => {
  turn = turn.then(() => end());
});
// Ctrl-C goes to the whole process group. The test process decides when to end, so the keeper ignores it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

async function obey(line) {
  const [command, given] = line.split(" ");
  port = given ?? port;
  if (command === "restart") await stop("SIGINT");
  let outcome = await start();
  for (let attempt = 0; attempt < 50; attempt++) {
    if (!outcome.failed?.includes(inUse)) break;
    await pause(100);
    outcome = await start();
  }
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

function start() {
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = spawn(postgres, ["-D", join(folder, "data"), "-p", port, ...options], {
    ...user,
    cwd: "/",
    env: { PATH: process.env.PATH, TZ: "UTC", LC_ALL: "C" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  server = child;
  return new Promise((resolve) => {
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      log = (log + text).slice(-4000);
      if (log.includes(readyLine)) resolve({ pid: child.pid });
    });
    child.once("error", (error) => resolve({ failed: String(error) }));
    child.once("close", () => resolve({ failed: log }));
  });
}

async function stop(signal) {
  const child = server;
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  child.kill(signal);
  const late = setTimeout(() => child.kill("SIGKILL"), 7000);
  await exited;
  clearTimeout(late);
}

async function end() {
  // An immediate shutdown is enough, because this data is not read again.
  await stop("SIGQUIT");
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  process.exit(0);
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
