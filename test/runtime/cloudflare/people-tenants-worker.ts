// A Worker in which people answer, and callers have objects of their own.

import { env } from "cloudflare:workers";
import { durableObjectStore } from "mcp-parley/durable-object";
import { cakesOn } from "./people-app.ts";

const objectFor = (principal = "nobody") => `tenant ${principal.slice(0, 1)}`;
const { Tasks: Cakes, fetch } = cakesOn(durableObjectStore(() => env.TASKS, { objectFor }));

export class Tasks extends Cakes {}

// oxlint-disable-next-line import/no-default-export -- the form of a Worker
export default { fetch };
