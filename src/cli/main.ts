#!/usr/bin/env node
// The entry of the command.

import process from "node:process";
import { terminal } from "./command.ts";
import { dispatch } from "./dispatch.ts";

const { code, endsProcess } = await dispatch(process.argv.slice(2), terminal);
process.exitCode = code;
if (endsProcess) process.stdout.write("", () => process.stderr.write("", () => process.exit()));
