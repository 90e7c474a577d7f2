// Writes package-lock.json without the addresses packages were downloaded from: they are those of one
// machine's registry. (npm's own option for this leaves out the versions of other platforms' packages.)

import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const file = "package-lock.json";
execFileSync(
  "npm",
  [
    "install",
    "--package-lock-only",
    "--no-audit",
    "--no-fund",
    "--omit-lockfile-registry-resolved=false",
  ],
  {
    stdio: "inherit",
  },
);
writeFileSync(file, readFileSync(file, "utf8").replaceAll(/^ +"resolved": .*\n/gm, ""));
