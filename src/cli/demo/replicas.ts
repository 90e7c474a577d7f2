// Two replicas, each a process of its own, the files they share, and a load balancer in front of them.

import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import process from "node:process";
import { newKey } from "../../token/keyring.ts";
import type { CloudRequest } from "./cloud.ts";
import { join } from "node:path";
import { createServer, request } from "node:http";

/** What a replica reports. */
export type ReplicaMessage =
  | { readonly kind: "listens"; readonly url: string }
  | { readonly kind: "does"; readonly what: CloudRequest["what"] };

/** A request that a replica sent to the cloud. */
export interface Deed {
  /** 1 or 2. */
  readonly replica: number;
  readonly what: CloudRequest["what"];
  readonly at: number;
}

/** A signal that ends this process, too, has ended a replica. */
export class ReplicaInterrupted extends Error {
  override readonly name = "ReplicaInterrupted";
}

/** The two processes. */
export class Replicas {
  readonly #children: readonly ChildProcess[];

  /** Runs `file` with this Node and with the options of this process, such as tsx in a clone. */
  constructor(file: string, folder: string, onDeed: (deed: Deed) => void) {
    const env = { ...process.env, PARLEY_KEYS: newKey("demo") };
    this.#children = [1, 2].map((replica) => {
      const child = fork(file, [folder], { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
      return child.on("message", (told: ReplicaMessage) => {
        if (told.kind === "does") onDeed({ replica, what: told.what, at: Date.now() });
      });
    });
  }

  /** The URLs they listen on, once they do. */
  readonly urls = (): Promise<string[]> => Promise.all(this.#children.map(urlOf));

  readonly kill = (replica: number): void => void this.#children[replica - 1]?.kill("SIGKILL");

  readonly end = async (): Promise<void> => {
    await Promise.all(this.#children.map(endOf));
  };
}

function urlOf(child: ChildProcess, index: number): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on("message", (told: ReplicaMessage) => {
      if (told.kind === "listens") resolve(told.url);
    });
    child.on("error", reject);
    child.on("exit", (_code, signal) => {
      // Ctrl-C in a terminal ends the replicas, too, and this process may notice that first.
      const isInterrupted = signal === "SIGINT" || signal === "SIGHUP" || signal === "SIGTERM";
      const what = `Replica ${index + 1} exited before it listened.`;
      reject(isInterrupted ? new ReplicaInterrupted(what) : new Error(what));
    });
  });
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on("exit", () => resolve());
    // Killed at once, because no other replica is left to take over its tasks.
    child.kill("SIGKILL");
  });
}

/** What the replicas share, besides their key. */
export interface SharedFiles {
  readonly tasksFile: string;
  readonly cloudFile: string;
  /** How long a replica keeps its tasks after its last sign of life, in milliseconds. */
  readonly leaseMs: number;
}

/** The files in a folder. */
export function sharedFiles(folder: string): SharedFiles {
  return {
    tasksFile: join(folder, "tasks.db"),
    cloudFile: join(folder, "cloud.jsonl"),
    leaseMs: 2_000,
  };
}

/** A running load balancer. */
export interface RoundRobin {
  readonly url: string;
  readonly close: () => void;
}

/** A load balancer that sends each request to the next replica. */
export function roundRobin(
  replicas: readonly string[],
  onRequest: (replica: number, method: string) => void,
): Promise<RoundRobin> {
  let next = 0;
  const server = createServer((incoming, response) => {
    const replica = next % replicas.length;
    next += 1;
    const { method, headers } = incoming;
    onRequest(replica, String(headers["mcp-method"]));
    const forwarded = request(replicas[replica] ?? "", { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
    incoming.pipe(forwarded);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ url: `http://127.0.0.1:${port}/mcp`, close });
    });
  });
}
