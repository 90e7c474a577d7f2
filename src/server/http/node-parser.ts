// Node's HTTP parser, as far as this folder relies on how it is made. If a runtime or a version of Node has another one,
// nothing here is found, and requests are served without it.

import type { Socket } from "node:net";

/** Where the parser keeps its functions. */
export const bodyAt = 3;
export const endAt = 4;

/** A function of the parser. */
export type Callback = (this: unknown, ...values: unknown[]) => unknown;
/** The parser of a connection. */
export type Parser = Record<number, Callback | undefined>;

/** The parser that a connection uses now. Node uses it again for other connections. */
export function parserOf(socket: Socket): Parser | undefined {
  const parser: unknown = Reflect.get(socket, "parser");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each function is checked before it is used
  return typeof parser === "object" && parser !== null ? (parser as Parser) : undefined;
}

/** Whether this function is the one that passes chunks of a body to the request. */
export const isBodyCallback = (callback: Callback | undefined): callback is Callback =>
  callback?.name === "parserOnBody";
