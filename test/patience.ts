// How long a test waits for a condition: long enough for a busy machine. A condition that holds sooner ends the wait
// sooner. `expect.poll` gets the same limit from vitest.config.ts.

/** Options for `vi.waitFor`, which by default gives up after a second. */
export const patience: { readonly timeout: number } = { timeout: 30_000 };
