// How a test file asks for what its run shares (setup.ts).

import process from "node:process";

/** The environment variable that holds the address of the run. It is missing in a program that no run has started. */
export const placeOfRun = "PARLEY_TEST_RUN";

/** The folder of the programs that are bundled, within the compiled copy. */
export const bundledPrograms = "bundled";

export const isInRun = (): boolean => process.env[placeOfRun] !== undefined;

export async function askRun<T>(what: "compiled" | "packed" | "database"): Promise<T> {
  const response = await fetch(`${process.env[placeOfRun]}/${what}`);
  if (!response.ok) throw new Error(`The run has no ${what}: ${await response.text()}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- setup.ts wrote it
  return (await response.json()) as T;
}
