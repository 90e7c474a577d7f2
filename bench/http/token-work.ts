// The token work of one round, alone: sealing and opening the very token that a server gave out, with the digest that
// binds it to its arguments, which is made for both.

import process from "node:process";
import { digest } from "../../src/token/canonical.ts";
import type { Claims } from "../../src/token/claims.ts";
import { parseKeys } from "../../src/token/keyring.ts";
import { open } from "../../src/token/open.ts";
import { seal } from "../../src/token/seal.ts";
import { answering } from "../child.ts";
import { benchKey } from "./key.ts";
import { implementation } from "./opponents/opponent.ts";

const keyring = parseKeys(benchKey);
const maxBytes = 1024 * 1024;

interface Given {
  readonly token: string;
  readonly params: { readonly name: string; readonly arguments: unknown };
  readonly ms: number;
}

answering({
  /** Microseconds of processor time for one seal and one open. */
  work: ({ token, params, ms }: Given): number => {
    const binding = () => ({
      method: "tools/call",
      target: params.name,
      argumentsDigest: digest(params.arguments),
      principal: undefined,
      audience: implementation.name,
    });
    const opened = () => open<unknown>(token, keyring, { ...binding(), now: Date.now(), maxBytes });
    const claims: Claims<unknown> = opened();
    const before = process.cpuUsage();
    const end = performance.now() + ms;
    let times = 0;
    while (performance.now() < end) {
      for (let more = 0; more < 50; more += 1) {
        if (seal({ ...claims, ...binding() }, keyring, { maxBytes }).length !== token.length) {
          throw new Error("another token came of the same claims");
        }
        opened();
        times += 1;
      }
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / times;
  },
});
