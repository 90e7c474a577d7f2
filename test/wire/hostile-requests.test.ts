// Requests that are made to cost the server more than their sender.

import { parley } from "mcp-parley";
import type { ParleyOptions } from "mcp-parley";
import { describe, expect, onTestFinished, test } from "vitest";
import { overEntry } from "../entry.ts";
import { keys } from "../interop/errands.ts";
import { envelope, exchange } from "./post.ts";
import { keepingLogger } from "./till.ts";

async function servedDesk(options: Partial<ParleyOptions> = {}) {
  const { logger, logged } = keepingLogger();
  const info = { name: "desk", version: "1.0.0", keys, logger };
  const app = parley({ ...info, ...options } as ParleyOptions);
  app.resource("page", "page:{a}-{b}-{c}", {}, (_uri, { a, b, c }) => [a, b, c].join("+"));
  const { url } = await app.listen(0, overEntry());
  onTestFinished(() => app.close());
  return { app, to: url, logged };
}

describe("a URI with many ways to divide it among the variables of a template", () => {
  const hostile = envelope("resources/read", { uri: `page:${"-".repeat(3_000)}/` });

  test("is refused at once, over HTTP and through app.fetch", async () => {
    const { app, to } = await servedDesk();
    for (const target of [to, app]) {
      const started = performance.now();
      const { error } = await exchange(target, hostile);
      expect(error?.message).toContain("not found");
      // A regular expression needs 15 seconds for it.
      expect(performance.now() - started).toBeLessThan(8_000);
    }
  });

  test("is read if it matches, with each variable as long as possible", async () => {
    const { app, to } = await servedDesk();
    const message = envelope("resources/read", { uri: "page:1-2-3-4-5" });
    for (const target of [to, app]) {
      const { result } = await exchange(target, message);
      expect(result?.["contents"]).toMatchObject([{ text: "1-2-3+4+5" }]);
    }
  });

  test("is not found if it is longer than 8192 characters", async () => {
    const { app, to } = await servedDesk();
    const long = (length: number) =>
      envelope("resources/read", { uri: `page:a-b-${"c".repeat(length - 9)}` });
    for (const target of [to, app]) {
      expect((await exchange(target, long(8_192))).result).toBeDefined();
      expect((await exchange(target, long(8_193))).error?.message).toContain("not found");
    }
  });
});
