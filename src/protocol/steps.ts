// What a server in development tells a client that asks for it: which steps the last round ran, and which it replayed.

/** In `_meta`: `true` in a request, `Steps` in its result. */
export const stepsKey = "io.github.mcp-parley/steps";

export interface Steps {
  readonly ran: readonly string[];
  readonly replayed: readonly string[];
}
