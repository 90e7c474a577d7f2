// A clock for stories that begin days ago: of this process, of Postgres, and of the processes that take part.

import type pg from "pg";

const now = Date.now.bind(Date);
let shiftMs = 0;

/** Moves the clock of this process. */
export function moveClock(ms: number): void {
  shiftMs = ms;
  Date.now = () => now() + shiftMs;
}

/** Moves the clock of a database that has the tables of the Postgres store. */
export async function moveDatabaseClock(database: pg.Pool, ms: number): Promise<void> {
  await database.query(
    `create or replace function parley.parley_now() returns bigint language sql stable parallel safe
     as $$ select floor(extract(epoch from statement_timestamp()) * 1000)::bigint + (${ms}) $$`,
  );
}
