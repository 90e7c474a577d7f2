// The desk as a server file: over standard input and output or, with LISTEN, over HTTP.

import process from "node:process";
import { desk } from "./desk.ts";

const app = desk();
if (process.env["LISTEN"] === undefined) await app.stdio();
else await app.listen(0);
