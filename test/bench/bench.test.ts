// Tests the benchmark itself: what it writes, and that a wrong response ends it. It checks no figure.

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { Bench } from "../../bench/bench.ts";
import { Figures } from "../../bench/figures.ts";
import { compare, converse, startServer } from "../../bench/http/compare.ts";
import { plain } from "../../bench/http/workloads.ts";

const main = fileURLToPath(new URL("../../bench/main.ts", import.meta.url));

test("the report has the names that readers look for", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-bench-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "figures.json");
  const options =
    "--quick --slice 20 --rounds 2 --seed test --only ^(plain|tworound|wrapped|token/share)$";
  const args = ["--import", "tsx", main, ...options.split(" "), "--json", file];
  const running = promisify(execFile)(process.execPath, args);
  onTestFinished(() => void running.child.kill("SIGKILL"));
  const { stdout } = await running;
  expect(stdout).toContain("seed test");
  // A limit whose part did not run is named as well.
  expect(stdout).toContain("tasks/postgres÷dbos@16 (limit 5): not measured");
  const written: { readonly figures: readonly object[] } = JSON.parse(await readFile(file, "utf8"));
  expect(Object.keys(written)).toEqual(["figures"]);
  for (const figure of written.figures) {
    expect(figure).toEqual({
      name: expect.any(String),
      value: expect.any(Number),
      spread: expect.any(Number),
      n: expect.any(Number),
    });
  }
  const names = written.figures.map((figure) => ("name" in figure ? figure.name : ""));
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(
    expect.arrayContaining([
      "plain/fast÷bare",
      "plain/fast÷bare cpu",
      "plain/fast÷bare@1",
      "plain/fast÷bare@64",
      "plain/fast÷batched",
      "plain/fast÷batched@64",
      "plain/fast÷sdk",
      "plain/fast÷sdkv1",
      "plain/fast÷tmcp",
      "tworound/fast÷bare",
      "tworound/fast÷batched",
      "token/share",
      "wrapped÷unwrapped",
    ]),
  );
});

test("--help names the options and the parts", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--import",
    "tsx",
    main,
    "--help",
  ]);
  for (const word of ["--quick", "--json <file>", "--profile <folder>", "tworound", "coldstart"]) {
    expect(stdout).toContain(word);
  }
});

test("a wrong or missing response ends the run", async () => {
  const pace = { isQuick: true, sliceMs: 10_000, rounds: 1, warmUp: { count: 1, ms: 10 } };
  const bench = await Bench.open(pace, "test");
  onTestFinished(() => bench.close());
  const server = await startServer(bench, "wrong");
  onTestFinished(() => server.process.end());
  const { legs } = await converse(bench, server, plain);
  const comparing = compare(bench, [{ name: "wrong", server, legs }], 2);
  await expect(comparing).rejects.toThrow("wrong sent a wrong response");
  await expect(converse(bench, server, plain)).rejects.toThrow('does not serve "plain" correctly');
  await server.process.kill();
  await expect(converse(bench, server, plain)).rejects.toThrow('does not serve "plain" correctly');
});

test("a figure is a median, with the width of the middle half", () => {
  const figures = new Figures();
  figures.add("one", 4);
  figures.ratio("several", [1, 20, 3, 4, 5], [1, 10, 1, 1, 1]);
  expect(figures.all).toEqual([
    { name: "one", value: 4, spread: 0, n: 1 },
    { name: "several", value: 3, spread: 2 / 3, n: 5 },
  ]);
});
