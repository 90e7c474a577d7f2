// A tool that streams in three rounds with questions, becomes a task, streams there, asks, and streams again. It can also
// run over standard input and output.

import { fileURLToPath } from "node:url";
import { memoryStore, parley } from "mcp-parley";
import type { App, ParleyOptions } from "mcp-parley";
import { keys, quiet } from "../interop/errands.ts";

/** `pause` is awaited in the middle of the first stream of the task. */
export function reportApp(options: Partial<ParleyOptions>, pause: () => Promise<void>): App {
  const app = parley({
    keys,
    logger: quiet,
    ...options,
    name: "press",
    version: "1.0.0",
    auth: undefined,
  });
  app.tool("report", { description: "A report in five parts", task: "optional" }, async (ctx) => {
    const texts = [await ctx.stream("one", pieces("The ", "first ", "round. "))];
    texts.push(await ctx.stream("two", pieces("By ", await ctx.ask("a", "Who?"), ". ")));
    texts.push(await ctx.stream("three", pieces("For ", await ctx.ask("b", "For whom?"), ". ")));
    await ctx.background();
    texts.push(
      await ctx.stream("four", async function* () {
        yield "In the ";
        await pause();
        yield* pieces("back", "ground. ")();
      }),
    );
    await ctx.emit("chart", { type: "image", data: "AA==", mimeType: "image/png" });
    texts.push(await ctx.stream("five", pieces("The ", await ctx.ask("c", "What else?"), ".")));
    return texts.join("|");
  });
  return app;
}

const pieces = (...texts: readonly string[]) =>
  async function* () {
    for (const text of texts) {
      yield text;
      // What is yielded in one turn goes out together.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await reportApp({ store: memoryStore() }, async () => {}).stdio();
}
