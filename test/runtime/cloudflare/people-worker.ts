// A Worker in which people answer, and one object keeps everything.

import { env } from "cloudflare:workers";
import { durableObjectStore } from "mcp-parley/durable-object";
import { cakesOn } from "./people-app.ts";

const { Tasks: Cakes, fetch } = cakesOn(durableObjectStore(() => env.TASKS));

export class Tasks extends Cakes {}

// oxlint-disable-next-line import/no-default-export -- the form of a Worker
export default { fetch };
