import { expect, test } from "vitest";
import { makeSamples, mutations, seeded } from "../../bench/token-mutations.ts";
import { TokenError } from "./errors.ts";
import { open } from "./open.ts";

// A slice of `npm run fuzz:token`, with another seed each time.
test("refuses 20 000 changed tokens and requests, all with the same words", () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = seeded(seed);
  const samples = makeSamples(random);
  const classes = Object.entries(mutations);
  for (const { text, keyring, expected } of samples.genuine) open(text, keyring, expected);

  const wrong: string[] = [];
  for (let turn = 0; turn * classes.length < 20_000; turn++) {
    for (const [name, mutate] of classes) {
      const { text, keyring, expected } = mutate(samples, random, turn);
      const said = outcome(() => open(text, keyring, expected));
      if (said !== "Invalid or expired requestState") {
        wrong.push(`${name}, turn ${turn}, seed ${seed}: ${said}`);
      }
    }
  }
  expect(wrong.slice(0, 10)).toEqual([]);
});

function outcome(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return error instanceof TokenError && error.reason !== "internal"
      ? error.message
      : `threw ${Error.prototype.toString.call(error)}`;
  }
  return "accepted";
}
