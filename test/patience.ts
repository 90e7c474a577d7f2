// How long a test waits for what will come: long enough for a machine that has more to do. What comes sooner is not
// waited for any longer. `expect.poll` has the same from vitest.config.ts.

/** For `vi.waitFor`, which gives up after a second if it is told nothing. */
export const patience: { readonly timeout: number } = { timeout: 30_000 };
