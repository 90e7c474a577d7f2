// The demo with replicas that break its story.

import { extname, join } from "node:path";
import process from "node:process";
import { terminal } from "../../src/cli/command.ts";
import { playDemo } from "../../src/cli/demo/play.ts";

const replica = join(import.meta.dirname, `demo-broken-replica${extname(import.meta.filename)}`);
process.exitCode = await playDemo({ isAuto: true, io: terminal, replica });
