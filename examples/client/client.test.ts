// The client examples, run as programs of their own.

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parley } from "mcp-parley";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";

const run = promisify(execFile);

test.each([
  ["client.ts", "How was #4522 resolved?\n#4522 closed as Fixed\n"],
  ["events.ts", "#4522 closed as Fixed\n"],
  ["outcomes.ts", "#4522 closed as Fixed\n"],
  ["stream.ts", "Q2: revenue grew.\nQ2: revenue grew.\n"],
  ["with-tasks.ts", "#4522 closed as Fixed\n"],
])(
  "%s runs as documented, on another port and in another folder",
  async (file, said) => {
    const app = parley({ name: "tracker", version: "1.0.0" });
    const Bug = z.object({ id: z.int() });
    app.tool("resolve_bug", { inputSchema: Bug }, async ({ id }, ctx) => {
      const how = await ctx.choose("how", `How was #${id} resolved?`, ["Fixed", "Duplicate"]);
      return `#${id} closed as ${how}`;
    });
    const Topic = z.object({ topic: z.string() });
    app.tool("report", { inputSchema: Topic }, ({ topic }, ctx) =>
      ctx.stream("draft", async function* () {
        yield `${topic}: revenue `;
        yield "grew.";
      }),
    );
    const { url } = await app.listen(0);
    onTestFinished(() => app.close());
    const folder = join(import.meta.dirname, `.run-${file}`);
    mkdirSync(folder, { recursive: true });
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const source = readFileSync(join(import.meta.dirname, file), "utf8");
    const here = source
      .replace("http://127.0.0.1:3000/mcp", url)
      .replace('".calls"', JSON.stringify(join(folder, "calls")));
    expect(here).toContain(url);
    expect(here).not.toContain('".calls"');
    writeFileSync(join(folder, file), here);

    const args = ["--import", "tsx", join(folder, file)];
    const { stdout } = await run(process.execPath, args, { timeout: 100_000 });
    expect(stdout).toBe(said);
  },
  120_000,
);
