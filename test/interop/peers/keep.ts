// Keeps the transcripts of a peer.

import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { isSame } from "./exchanges.ts";
import { fileOf, folderOf, written } from "./transcript.ts";
import type { Transcript } from "./transcript.ts";

export class Keeper {
  readonly #folder: URL;
  readonly #kept = new Set<string>();

  constructor(peer: string) {
    this.#folder = folderOf(peer);
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Does not touch the kept transcript if this one tells the same. So git shows only what has changed. */
  keep(transcript: Transcript): "new" | "changed" | "same" {
    const file = fileOf(transcript);
    this.#kept.add(file.href);
    const isNew = !existsSync(file);
    if (!isNew && isSame(JSON.parse(readFileSync(file, "utf8")), transcript)) return "same";
    writeFileSync(file, written(transcript));
    return isNew ? "new" : "changed";
  }

  /** Removes the transcripts of errands that are no longer run. */
  removeOthers(): void {
    for (const name of readdirSync(this.#folder)) {
      const file = new URL(name, this.#folder);
      if (!this.#kept.has(file.href)) rmSync(file);
    }
  }
}
