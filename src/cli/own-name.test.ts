import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { asTyped, ownName } from "./own-name.ts";

/** A PATH with a folder that has the command. */
function pathWithCommand(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-path-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "parley"), "");
  return ["/none", folder].join(delimiter);
}

test("the command is called parley only where that works", () => {
  const PATH = pathWithCommand();
  expect(ownName({ PATH }, "")).toBe("parley");
  expect(ownName({ PATH: "/none" }, "")).toBe("npx mcp-parley");
  expect(ownName({}, "")).toBe("npx mcp-parley");
  // npx and npm put the folder of the package on the PATH, for this process only.
  for (const name of ["npm_command", "npm_execpath", "npm_lifecycle_event"]) {
    expect(ownName({ PATH, [name]: "exec" }, "")).toBe("npx mcp-parley");
  }
});

test("in a clone it is called by its file", () => {
  const source = join(process.cwd(), "src/cli/main.ts");
  expect(ownName({}, source)).toBe(`npx tsx ${join("src", "cli", "main.ts")}`);
  expect(ownName({ PATH: pathWithCommand() }, source)).toBe("parley");
});

test("messages name their commands as they are typed here", () => {
  const env = { PATH: pathWithCommand() };
  const message = "Run parley resume, or npx mcp-parley keys new. parley knows 3 tasks.";
  expect(asTyped(message, env)).toBe(message);
  const typed = asTyped(message, {});
  expect(typed).toMatch(
    /^Run npx \S+.* resume, or npx mcp-parley keys new\. parley knows 3 tasks\.$/,
  );
});
