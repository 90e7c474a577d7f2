// A folder for one test.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The path of a database that does not exist yet. */
export function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-sqlite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "parley.db");
}
