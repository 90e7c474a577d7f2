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
    const { name: audience } = implementation;
    const [method, target, principal] = ["tools/call", params.name, undefined];
    // Member by member, as the server does: spreads would be a tenth of it, and are no work on a token.
    const opened = () => {
      const argumentsDigest = digest(params.arguments);
      const now = Date.now();
      const expected = { method, target, argumentsDigest, principal, audience, now, maxBytes };
      return open<unknown>(token, keyring, expected);
    };
    const { callId, round, roundsLeft, expiresAt, state } = opened();
    const sealed = () => {
      const argumentsDigest = digest(params.arguments);
      const claims: Claims<unknown> = {
        method,
        target,
        argumentsDigest,
        principal,
        audience,
        callId,
        round,
        roundsLeft,
        expiresAt,
        state,
      };
      return seal(claims, keyring, { maxBytes });
    };
    const before = process.cpuUsage();
    const end = performance.now() + ms;
    let times = 0;
    while (performance.now() < end) {
      for (let more = 0; more < 50; more += 1) {
        if (sealed().length !== token.length) {
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
