// The messages of the documents, by name. They are in test/golden/seeds/, where a notice says who wrote them.

import { readdirSync, readFileSync } from "node:fs";
import type { Message, Printed } from "./printed.ts";

const folder = new URL("../golden/seeds/", import.meta.url);

export const printed: readonly Printed[] = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .toSorted()
  .flatMap((file): Printed[] => JSON.parse(readFileSync(new URL(file, folder), "utf8")));

export function golden(name: string): Message {
  const found = printed.find((one) => one.name === name);
  if (found === undefined) throw new Error(`test/golden/seeds has no message ${name}`);
  return found.message;
}
