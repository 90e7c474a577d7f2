// The token work of one round, without the rest: it seals and opens a token that a server sent, and computes the digest of
// the arguments that the token is bound to for both.

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
    // Member by member, as the server does it. Spreads would be a tenth of the time, and are not token work.
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
          throw new Error("The same claims gave another token.");
        }
        opened();
        times += 1;
      }
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / times;
  },
});
