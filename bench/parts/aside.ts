// The engine and the token without HTTP, in a compiled process: figures and their limits.

import type { Found } from "../aside/found.ts";
import type { Bench } from "../bench.ts";
import { Child } from "../child.ts";
import { shown, table } from "../figures.ts";

export async function measureAside(bench: Bench, what: "engine" | "token"): Promise<void> {
  const { figures, built, pace } = bench;
  const program = new Child(what, built("bench/aside/program.ts"));
  try {
    const found = await program.ask<readonly Found[]>(what, pace.isQuick);
    table([
      ["", ""],
      ...found.map(({ name, samples }) => [name, shown(figures.add(name, ...samples))]),
    ]);
  } finally {
    await program.end();
  }
}
