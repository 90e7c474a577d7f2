// The lock file: what npm installs is what was locked, byte for byte.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

interface Locked {
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
}

test("every package has a checksum, except binaries of other systems for tools of this repository", () => {
  const text = readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8");
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(text);
  // A registry that lacks the binaries of other systems cannot say what their checksums are (scripts/lock.ts).
  const unchecked = Object.entries(packages).filter(
    ([path, { integrity, optional, dev, os, cpu }]) =>
      path !== "" &&
      integrity === undefined &&
      !(optional === true && dev === true && (os ?? cpu) !== undefined),
  );
  expect(unchecked).toEqual([]);
  expect(Object.keys(packages).length).toBeGreaterThan(100);
});
