// A request and its response as texts that are ready to be sent and compared. Both may have one gap: the state, which is
// another in every call.

export interface Leg {
  readonly head: string;
  /** With a gap: the state of the response before goes in between. */
  readonly request: Parts;
  /** With a gap: whatever is there is the state. All around it must be as it was recorded. */
  readonly response: Parts;
}

export type Parts = readonly [before: string, after?: string];

/** Its text, with this state in the gap. */
export function written({ head, request: [before, after] }: Leg, state: string): string {
  const body = after === undefined ? before : before + state + after;
  return `${head}content-length: ${body.length}\r\n\r\n${body}`;
}

/** The state in the response, or undefined where it is not as it must be. */
export function stateIn({ response: [before, after] }: Leg, body: string): string | undefined {
  if (after === undefined) return body === before ? "" : undefined;
  const isRight =
    body.length > before.length + after.length && body.startsWith(before) && body.endsWith(after);
  return isRight ? body.slice(before.length, body.length - after.length) : undefined;
}
