// Every file of the built package except the command imports this one first (scripts/build.ts). It runs before anything
// else of the package does.

import { nodeProblem } from "./node-version.ts";

const { process: host }: { readonly process?: { readonly versions?: { readonly node?: string } } } =
  globalThis;
const problem = nodeProblem(host?.versions?.node);
if (problem !== undefined) throw new Error(problem);
