// How every SQL store changes its tables. Migrations are numbered from 1, and a released one never changes. Replicas of
// two versions run side by side during a deployment, so a migration normally only adds to the tables, and older
// versions keep working on them. A breaking migration locks out every version that does not know it.

/** One step from the tables of an earlier version to those of a later one. */
export interface Migration<Sql> {
  readonly number: number;
  /** Whether a version that does not know this migration must not use the tables after it. */
  readonly isBreaking: boolean;
  readonly sql: Sql;
}

/** A migration that the database says was applied, perhaps by a newer version. */
export interface AppliedMigration {
  readonly number: number;
  /** The lowest migration that a version must know in order to use the tables after this one. */
  readonly requires: number;
}

/** What a migration requires of the versions that use the tables after it. The first one requires nothing. */
export function requiredBy({
  number,
  isBreaking,
}: Pick<Migration<unknown>, "number" | "isBreaking">): number {
  return isBreaking ? number : 1;
}

/** The numbers behind a refusal: the migration that is required, and the newest one that this version knows. */
export interface Refusal {
  readonly required: number;
  readonly known: number;
}

/** Says why a version cannot use the tables. */
export function refusalText(what: string, { required, known }: Refusal): string {
  return (
    `A newer version of mcp-parley has changed ${what} (migration ${required}), and this version, which knows ` +
    `migrations up to ${known}, cannot use it.`
  );
}

/**
 * Decides whether the version that knows these migrations may use the tables. Returns the migrations that it has to
 * apply first. Throws what `refuse` makes if a migration that it does not know has locked it out.
 */
export function pendingMigrations<Sql>(
  known: readonly Migration<Sql>[],
  applied: readonly AppliedMigration[],
  refuse: (refusal: Refusal) => Error,
): readonly Migration<Sql>[] {
  const newest = Math.max(...known.map(({ number }) => number));
  const required = Math.max(1, ...applied.map(({ requires }) => requires));
  if (required > newest) throw refuse({ required, known: newest });
  const done = new Set(applied.map(({ number }) => number));
  return known.filter(({ number }) => !done.has(number));
}
