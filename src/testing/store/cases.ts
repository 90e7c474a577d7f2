// Cases are written as tests of vitest are, with `describe` and `test`, but only collected here, so that any runner can run
// them, in any runtime.

/** What a case gets. */
export interface CaseContext {
  /** Ends the case without a verdict, because the store leaves out what it is about. */
  readonly skip: (why?: string) => never;
}

interface Collected {
  readonly name: string;
  readonly body: (context: CaseContext) => unknown;
}

/** A case that does not apply to this store. */
export class Skipped extends Error {}

let titles: readonly string[] = [];
let into: Collected[] | undefined;

/** The cases that a function defines. */
export function collected(define: () => void): readonly Collected[] {
  const cases: Collected[] = [];
  into = cases;
  try {
    define();
  } finally {
    into = undefined;
  }
  return cases;
}

/** One function for each row. `%s` and `%j` in the title stand for the first value of the row. */
interface Each<R> {
  <const T extends readonly unknown[]>(
    rows: readonly T[],
  ): (title: string, run: (...row: T) => R) => void;
  <T>(rows: readonly T[]): (title: string, run: (value: T) => R) => void;
}

function eachOf<R>(define: (title: string, run: () => R) => void): Each<R> {
  return (rows: readonly unknown[]) => (title: string, run: (...row: never[]) => R) => {
    for (const row of rows) {
      const values: readonly unknown[] = Array.isArray(row) ? row : [row];
      const shown = title.replace("%s", String(values[0])).replace("%j", JSON.stringify(values[0]));
      define(shown, () => run(...(values as never[])));
    }
  };
}

const group = (title: string, define: () => void): void => {
  const outer = titles;
  titles = [...outer, title];
  try {
    define();
  } finally {
    titles = outer;
  }
};

const one = (title: string, body: Collected["body"]): void => {
  if (into === undefined) throw new Error("Cases are defined in a function that is collected.");
  into.push({ name: [...titles, title].join(": "), body });
};

export const describe: typeof group & { readonly each: Each<void> } = Object.assign(group, {
  each: eachOf(group),
});
export const test: typeof one & { readonly each: Each<unknown> } = Object.assign(one, {
  each: eachOf<unknown>(one),
});
