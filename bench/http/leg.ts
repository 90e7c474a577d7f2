// A request and its response, as texts that are ready to be sent and compared. Both may have one gap for the state, which
// differs in every call.

export interface Leg {
  readonly head: string;
  /** If it has a gap, the state of the previous response goes there. */
  readonly request: Parts;
  /** If it has a gap, the state is there. Everything around it must be as recorded. */
  readonly response: Parts;
}

export type Parts = readonly [before: string, after?: string];

/** The text of a request, with this state in its gap. */
export function written({ head, request: [before, after] }: Leg, state: string): string {
  const body = after === undefined ? before : before + state + after;
  return `${head}content-length: ${body.length}\r\n\r\n${body}`;
}

/** The state in the response, or undefined if the response is not as recorded. */
export function stateIn({ response: [before, after] }: Leg, body: string): string | undefined {
  if (after === undefined) return body === before ? "" : undefined;
  const isRight =
    body.length > before.length + after.length && body.startsWith(before) && body.endsWith(after);
  return isRight ? body.slice(before.length, body.length - after.length) : undefined;
}
