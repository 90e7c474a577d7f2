// Parley as users get it: the bundle that `npm run build` makes, installed as a package. A cold start loads this.

import { parley } from "mcp-parley";
import type { Start } from "./opponent.ts";
import { makeApp } from "./parley-app.ts";

export const start: Start = async () => {
  const { url } = await makeApp(parley).listen(0);
  return { port: Number(new URL(url).port) };
};
