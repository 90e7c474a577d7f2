// Serves a till until the test is over.

import type { ParleyOptions } from "mcp-parley";
import { onTestFinished } from "vitest";
import { overEntry } from "../entry.ts";
import { till } from "./till.ts";
import type { Till } from "./till.ts";

/** `to` is the address of the till. */
export async function served(options?: Partial<ParleyOptions>): Promise<Till & { to: string }> {
  const made = till(options);
  const { url } = await made.app.listen(0, overEntry());
  onTestFinished(() => made.app.close());
  return { ...made, to: url };
}
