// A console of a listening app, and requests to it as its page sends them.

import type { App, Logger } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import type { ConsoleOptions, Operator } from "mcp-parley/console";
import { onTestFinished } from "vitest";

/** What came back. */
export interface Got {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

/** Lets in whoever names themselves in the header `x-operator`, as JSON. */
export const byHeader: ConsoleOptions = {
  authorize: (request) => {
    const operator = request.headers.get("x-operator");
    if (operator === null) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests send it
    const given = JSON.parse(operator) as Operator;
    return { principal: given.who, ...given };
  },
};

export const viewer: Operator = { who: "vi", groups: [], may: "look" };
export const clerk: Operator = { who: "cleo", groups: ["finance"], may: "act", values: true };
export const admin: Operator = {
  who: "ada",
  groups: ["finance"],
  may: "act_for_client",
  values: true,
};

/** Serves the app with a console. With null it is the one of development. */
export async function opened(app: App, options: ConsoleOptions | null = byHeader) {
  const { url } = await app.listen(0, { console: operatorConsole(app, options ?? undefined) });
  onTestFinished(() => app.close());
  return consoleAt(new URL("/console/", url).href);
}

const as = (operator: Operator | undefined): Record<string, string> =>
  operator === undefined ? {} : { "x-operator": JSON.stringify(operator) };

/** Requests to a console. */
export function consoleAt(at: string) {
  const ask = async (path: string, init: RequestInit = {}): Promise<Got> => {
    const response = await fetch(new URL(path, at), { redirect: "manual", ...init });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const body: unknown = isJson ? JSON.parse(text) : text;
    return { status: response.status, body, headers: response.headers };
  };
  return {
    at,
    ask,
    get: (path: string, operator?: Operator) => ask(path, { headers: as(operator) }),
    post: (
      path: string,
      body: unknown,
      operator?: Operator,
      headers: Readonly<Record<string, string>> = {},
    ) =>
      ask(path, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "sec-fetch-site": "same-origin",
          ...as(operator),
          ...headers,
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
}

const nothing = () => {};

/** A logger that keeps the links which a console of development prints. */
export function linkLogger(): { readonly logger: Logger; readonly links: URL[] } {
  const links: URL[] = [];
  return {
    links,
    logger: {
      debug: nothing,
      warn: nothing,
      error: nothing,
      info: (message) => {
        const [, link] = /^console: (\S+)$/.exec(message) ?? [];
        if (link !== undefined) links.push(new URL(link));
      },
    },
  };
}
