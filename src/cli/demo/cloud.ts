// In place of a cloud: a file with a line for each request, which outlives whoever sent it.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Cloud } from "./tool.ts";

export interface CloudRequest {
  readonly what: "price" | "create" | "configure";
  /** Of a price there is none: that only reads. */
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
  readonly onRequest: (what: CloudRequest["what"]) => void;
  /** To see the story fail: as if idempotency keys meant nothing. */
  readonly isForgetful?: boolean | undefined;
}

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
