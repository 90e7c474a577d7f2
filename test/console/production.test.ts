// Outside development, where nobody gets in without `authorize`. This file sets NODE_ENV before it loads anything.

import { expect, onTestFinished, test, vi } from "vitest";

test("a console without authorize is refused", async () => {
  vi.stubEnv("NODE_ENV", "production");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { parley: make } = await import("../../src/index.ts");
  const { operatorConsole: consoleOf } = await import("../../src/console/index.ts");
  const app = make({ name: "tracker", version: "1" });
  expect(() => consoleOf(app)).toThrow(
    expect.objectContaining({
      code: "no_auth",
      message:
        "operatorConsole(app) would show every call to anyone who can reach it. Outside development, pass { authorize }.",
    }),
  );
  expect(() => consoleOf(app, { authorize: () => undefined })).not.toThrow();
});
