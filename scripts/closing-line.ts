// The last line of a test run, in the plain form that any build server can read.
import type { Reporter, TestModule } from "vitest/node";

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    let passed = 0;
    let failed = 0;
    for (const module of modules) {
      // A file that does not even load has no tests to count, and must not pass unseen.
      if (module.state() === "failed" && module.errors().length > 0) failed += 1;
      // A hook that fails leaves its tests skipped.
      for (const suite of module.children.allSuites()) failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        if (test.result().state === "failed") failed += 1;
        if (test.result().state === "passed") passed += 1;
      }
    }
    process.once("exit", () => process.stdout.write(`\n${passed} passed, ${failed} failed\n`));
  }
}
