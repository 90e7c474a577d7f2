// The console of an app: a page for people, and the JSON that it reads and sends.

import { ParleyError } from "../errors.ts";
import type { App } from "../server/app.ts";
import { mountable, type WebHandler } from "../server/http/web-handler.ts";
import { insideOf } from "../server/inside.ts";
import type { Inside } from "../server/inside.ts";
import { ConsoleApi } from "./api.ts";
import { DevelopmentDoor } from "./development-door.ts";
import type { Operator } from "./operator.ts";
import type { Door } from "./serve-console.ts";
import { consoleHandler } from "./serve-console.ts";

/** Options of `operatorConsole`. */
export interface ConsoleOptions {
  /**
   * Says who sent a request. Return undefined to refuse it, or a `Response` of your own, such as a redirect to where people
   * sign in. It is called for every request, so it should be quick.
   */
  readonly authorize: (
    request: Request,
  ) => Operator | Response | undefined | Promise<Operator | Response | undefined>;
}

/**
 * Makes the console of an app: what waits for people, every task with its timeline, and the health of the workers. Without
 * options it works in development only, on the loopback address.
 *
 * @example
 * ```ts
 * const desk = operatorConsole(app, {
 *   authorize: async (request) => {
 *     const user = await signedIn(request);
 *     return user && { who: user.id, principal: user.id, groups: user.groups, may: "act" };
 *   },
 * });
 * await app.listen(3000, { console: desk });
 * ```
 */
export function operatorConsole(app: App, options?: ConsoleOptions): WebHandler {
  const inside = insideOf(app);
  if (inside === undefined) {
    throw new TypeError(
      "operatorConsole(app, { authorize }): the first argument is the app that parley() returned.",
    );
  }
  const { core } = inside;
  const authorize = options?.authorize;
  if (authorize === undefined && !core.environment.isDevelopment) {
    throw new ParleyError(
      "no_auth",
      "operatorConsole(app) would show every call to anyone who can reach it. Outside development, pass { authorize }.",
    );
  }
  return consoleOf(inside, authorize ?? new DevelopmentDoor(core), true);
}

/** The console of the person who has started this process, for an app without code of its own. */
export function ownConsole(
  app: App,
  person: { readonly who: string; readonly principal: string | undefined },
): WebHandler {
  const inside = insideOf(app);
  if (inside === undefined) throw new TypeError("The console takes an app of parley().");
  return consoleOf(inside, new DevelopmentDoor(inside.core, person), false);
}

function consoleOf(inside: Inside, door: Door, hasCode: boolean): WebHandler {
  const handler = consoleHandler(door, new ConsoleApi(inside, hasCode), inside.core);
  return mountable(handler, {
    isForThisMachine: door instanceof DevelopmentDoor,
    isAt: (address) => (door instanceof DevelopmentDoor ? door.isAt(address) : undefined),
  });
}
