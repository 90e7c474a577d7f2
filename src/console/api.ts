// The console's API: which address does what, and what an operator needs for it.

import type { Inside } from "../server/inside.ts";
import { isPermitted } from "./operator.ts";
import type { Admitted, Operator } from "./operator.ts";
import { json, notFound, Refusal } from "./refusal.ts";
import { jsonBody } from "./request-json.ts";
import { sessionOf } from "./session.ts";
import type { Json } from "../util/json.ts";

/** One request, after its sender was let in. */
export interface ApiCall {
  readonly operator: Admitted;
  /** What stands in the address in place of `:id`. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, Json>>;
  readonly signal: AbortSignal;
}

interface Route {
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  readonly may: Operator["may"];
  readonly serve: (call: ApiCall) => unknown;
}

/** The API of one app. */
export class ConsoleApi {
  readonly #routes: readonly Route[];

  constructor(inside: Inside) {
    this.#routes = [get("session", ({ operator }) => sessionOf(inside, operator))];
  }

  /** Serves one request. Throws a Refusal, or what the store throws. */
  async serve(request: Request, pathname: string, operator: Admitted): Promise<Response> {
    const found = this.#routes.filter(({ path }) => path.test(pathname));
    if (found.length === 0) throw notFound("The console has no such address.");
    const route = found.find(({ method }) => method === request.method);
    if (route === undefined) throw new Refusal(405, "invalid", "Use GET to read, POST to act.");
    if (!isPermitted(operator, route.may)) throw mayOnlyLook();
    const { path, serve, method } = route;
    const served: unknown = await serve({
      operator,
      id: idIn(path.exec(pathname)?.[1] ?? ""),
      query: new URL(request.url).searchParams,
      body: method === "POST" ? await jsonBody(request) : {},
      signal: request.signal,
    });
    return served instanceof Response ? served : json(served);
  }
}

const get = (path: string, serve: Route["serve"]): Route => ({
  method: "GET",
  path: pattern(path),
  may: "look",
  serve,
});

const pattern = (path: string): RegExp =>
  new RegExp(`^/api/${path.replace(":id", "([^/]{1,600})")}$`);

function idIn(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notFound("There is no such task.");
  }
}

const mayOnlyLook = () =>
  new Refusal(403, "not_allowed", "You may look, and not act. Ask whoever runs the server.");
