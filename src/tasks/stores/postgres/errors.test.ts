// Errors of Postgres, and of its address, that say what to do.

import { expect, test } from "vitest";
import { explained } from "./errors.ts";
import { postgresStore } from "./index.ts";

test.each([
  ["42P05", 'prepared statement "claim" already exists'],
  ["26000", 'prepared statement "claim" does not exist'],
])("a prepared statement that a pooler gets wrong (%s) names the option", (code, message) => {
  const error = Object.assign(new Error(message), { code, severity: "ERROR" });
  expect(explained(error)).toMatchObject({
    message:
      `Postgres refused a prepared statement: ${message}. ` +
      "This happens behind a pooler such as PgBouncer in transaction mode. Pass postgresStore(url, { prepare: false }).",
    cause: error,
  });
});

test("a database that does not exist has advice", () => {
  const message = 'database "nope" does not exist';
  const error = Object.assign(new Error(message), { code: "3D000", severity: "FATAL" });
  expect(explained(error)).toMatchObject({
    message: `The task store (Postgres) cannot be reached: ${message}. Create it, or correct the name of the database in the address.`,
  });
});

test.each([
  "postgres://one:5432,two:5432/app",
  "postgresql://ada:se,cret@one,two/app?target_session_attrs=read-write",
])("an address with several hosts is refused at once: %s", (url) => {
  expect(() => postgresStore(url)).toThrow(
    /^The address of Postgres names several hosts \(one.*,two.*\), and the driver pg connects to one\. /,
  );
});

test("a comma elsewhere in the address is fine, and the password is never shown", async () => {
  const store = postgresStore("postgres://ada:a,b@db.example/app?options=-c%20search_path=a,b");
  await store.close();
  expect(() => postgresStore("postgres://ada:secret@one,two/app")).toThrow(/^(?!.*secret)/);
});
