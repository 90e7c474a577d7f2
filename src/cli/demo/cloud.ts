// A pretend cloud: a file with a line for each request. It survives the process that sent the request.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Cloud } from "./tool.ts";

/** A request that the cloud received. */
export interface CloudRequest {
  readonly what: "price" | "create" | "configure";
  /** Empty for a price, which only reads. */
  readonly idempotencyKey: string;
  readonly vm: string;
  /** When it is done and the response is sent. */
  readonly doneAt: number;
}

/** The requests that the cloud received. */
export function cloudRequests(file: string): CloudRequest[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line): CloudRequest => JSON.parse(line));
}

/** How long the cloud takes to create a VM, from the first request. */
const creationMs = 4_000;

/** The file of the cloud, and what to call at a request. */
export interface CloudOptions {
  readonly file: string;
  readonly onRequest: (what: CloudRequest["what"]) => void;
  /** Ignores idempotency keys, to test that the demo notices. */
  readonly isForgetful?: boolean | undefined;
}

/** A cloud that works on a file. */
export function pretendCloud({ file, onRequest, isForgetful = false }: CloudOptions): Cloud {
  function receive(asNew: CloudRequest): CloudRequest {
    const { what, idempotencyKey } = asNew;
    const known = cloudRequests(file).find(
      (one) => one.what === what && one.idempotencyKey === idempotencyKey,
    );
    const request = known === undefined || isForgetful ? asNew : known;
    appendFileSync(file, `${JSON.stringify(request)}\n`);
    onRequest(what);
    return request;
  }
  return {
    price: (size) => {
      receive({ what: "price", idempotencyKey: "", vm: "", doneAt: 0 });
      return size === "large" ? 70 : 10;
    },
    create: async (_name, _size, idempotencyKey) => {
      const made = cloudRequests(file).filter(({ what }) => what === "create");
      const vm = `vm-${made.length + 1}`;
      const doneAt = Date.now() + creationMs;
      const request = receive({ what: "create", idempotencyKey, vm, doneAt });
      await pause(Math.max(0, request.doneAt - Date.now()));
      return request.vm;
    },
    configure: async (vm, _network, idempotencyKey) => {
      receive({ what: "configure", idempotencyKey, vm, doneAt: Date.now() });
    },
  };
}
