// Parley from its compiled source, file by file, through both of its entries.

import { parley } from "../../../src/index.ts";
import type { Start } from "./opponent.ts";
import { makeApp } from "./parley-app.ts";

const startWith =
  (fast: boolean): Start =>
  async () => {
    const { url } = await makeApp(parley).listen(0, { fast });
    return { port: Number(new URL(url).port) };
  };

export const startFast = startWith(true);
export const startOverSdk = startWith(false);
