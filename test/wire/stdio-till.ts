// The till over standard input and output, with a tool that waits until it is stopped. Everything else that it prints goes
// to standard error, which the tests read.

import { till } from "./till.ts";

const say = (line: string) => void process.stderr.write(`${line}\n`);

const { app } = till({ logger: { debug: say, info: say, warn: say, error: say } });
app.tool("wait", {}, async (ctx) => {
  await ctx.step("wait", ({ signal }) => {
    say("waiting");
    return new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => {
        const { reason }: { readonly reason?: string } = signal.reason;
        say(`stopped: ${reason}`);
        resolve();
      });
    });
  });
  say("went on");
  return "waited";
});
app.tool("count", {}, async (ctx) => {
  ctx.progress(1);
  await ctx.step("count", () => {});
  ctx.progress(2);
  return "counted";
});
app.tool("close", {}, () => {
  void app.close();
  return "closing";
});
await app.stdio();
