// A server of this folder, as a process that a client starts.

import { fileURLToPath } from "node:url";
import { program } from "../programs.ts";
import type { Place } from "./clients.ts";

/** One process without a shell or wrapper around it, so that killing it ends all of it. */
export function stdioPlace(file: string | URL): Extract<Place, { command: string }> {
  return {
    command: process.execPath,
    args: [...program(new URL(file, import.meta.url))],
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
  };
}
