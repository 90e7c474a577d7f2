// In place of a cloud: a file with a line for each request, which outlives whoever sent it.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Cloud } from "./tool.ts";

export interface CloudRequest {
  readonly what: "create" | "configure";
  readonly idempotencyKey: string;
  readonly vm: string;
  /** When it is done, and the answer goes out. */
  readonly doneAt: number;
}

export function cloudRequests(file: string): CloudRequest[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line): CloudRequest => JSON.parse(line));
}

/** So long it takes to make a VM, from the first request for it. */
const creationMs = 4_000;

export interface CloudOptions {
  readonly file: string;
  /** For the test of the example: as if idempotency keys meant nothing. */
  readonly isForgetful: boolean;
}

export function pretendCloud({ file, isForgetful }: CloudOptions): Cloud {
  async function receive(asNew: CloudRequest): Promise<string> {
    const known = cloudRequests(file).find((one) => one.idempotencyKey === asNew.idempotencyKey);
    const request = known === undefined || isForgetful ? asNew : known;
    appendFileSync(file, `${JSON.stringify(request)}\n`);
    await pause(Math.max(0, request.doneAt - Date.now()));
    return request.vm;
  }
  return {
    price: (size) => {
      console.log("does asks the cloud for its price");
      return size === "large" ? 70 : 10;
    },
    create: (_name, _size, idempotencyKey) => {
      const vm = `vm-${cloudRequests(file).length + 1}`;
      const vmIsThere = receive({
        what: "create",
        idempotencyKey,
        vm,
        doneAt: Date.now() + creationMs,
      });
      console.log("does asks the cloud for a VM");
      return vmIsThere;
    },
    configure: async (vm, _network, idempotencyKey) => {
      console.log("does puts the VM into its network");
      await receive({ what: "configure", idempotencyKey, vm, doneAt: Date.now() });
    },
  };
}
