// What a server in development reports to a client that asks for it: the steps that the last round ran or replayed.

/** The key in `_meta`. Its value is `true` in a request and `Steps` in the result. */
export const stepsKey = "io.github.mcp-parley/steps";

/** The keys of the steps of one round. */
export interface Steps {
  /** Steps whose body was executed. */
  readonly ran: readonly string[];
  /** Steps whose outcome came from the journal. */
  readonly replayed: readonly string[];
}
