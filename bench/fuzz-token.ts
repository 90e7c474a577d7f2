// npm run fuzz:token -- --n 1000000 --seed 1
//
// Gives `open` a million tokens that it must refuse. Fails if one is accepted, if anything other than a TokenError is
// thrown, or if two refusals differ in what they say to the outside. Then it measures, on tokens of one size, whether the
// time to refuse reveals the reason.

import { inspect, parseArgs } from "node:util";
import { TokenError } from "../src/token/errors.ts";
import { open } from "../src/token/open.ts";
import {
  type Attempt,
  cuts,
  makeSamples,
  mutations,
  pick,
  type Random,
  type Sample,
  type Samples,
  seeded,
  shuffle,
} from "./token-mutations.ts";

interface Tally {
  tried: number;
  accepted: number;
  threwElse: number;
  readonly micros: number[];
}

const { values } = parseArgs({
  options: { n: { type: "string", default: "1000000" }, seed: { type: "string" } },
});
const n = Number(values.n);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
if (!Number.isSafeInteger(n) || n < 1) throw new RangeError("--n must be a whole number from 1");
if (!Number.isSafeInteger(seed)) throw new RangeError("--seed must be a whole number");

const random = seeded(seed);
const samples = makeSamples(random);
const outward = new Set<string>();
let reported = 0;
const startedAt = performance.now();

console.log(`${n} mutations of ${samples.genuine.length} tokens, seed ${seed}\n`);
requireGenuine(samples.genuine);
const tallies = attack(samples, random, n);
// Genuine tokens must still open: an `open` that refuses everything would pass every test above.
requireGenuine(samples.genuine);
print(tallies);
const seconds = (performance.now() - startedAt) / 1000;
const total = sum(tallies);
console.log(`\n${total.tried} tried in ${seconds.toFixed(1)} s`);
console.log(`accepted ${total.accepted}, other errors ${total.threwElse}`);
console.log(`to the outside: ${[...outward].map((text) => JSON.stringify(text)).join(", ")}`);
const perClass = Math.floor(n / Object.keys(mutations).length);
console.log(`cut at ${Math.min(perClass, cuts(samples))} of ${cuts(samples)} lengths`);

compareTimes(samples, random);

if (total.accepted + total.threwElse > 0 || outward.size !== 1) {
  console.log(`\nFAILED. To repeat it: npm run fuzz:token -- --n ${n} --seed ${seed}`);
  process.exitCode = 1;
}

function requireGenuine(genuine: readonly Sample[]): void {
  for (const { text, keyring, expected } of genuine) open(text, keyring, expected);
}

// One of each class in turn, so that a machine that slows down does so for all of them, and in a different order each
// time, because a long text leaves cold caches for the next one.
function attack(on: Samples, by: Random, count: number): Map<string, Tally> {
  const classes = Object.entries(mutations).map(([name, mutate]) => {
    const tally: Tally = { tried: 0, accepted: 0, threwElse: 0, micros: [] };
    return { name, mutate, tally };
  });
  const order = [...classes];
  for (let turn = 0; turn * classes.length < count; turn++) {
    shuffle(order, by);
    for (const { name, mutate, tally } of order) refuse(mutate(on, by, turn), name, tally);
    if (turn % 1000 === 0) process.stderr.write(`\r${turn * classes.length} of ${count}`);
  }
  process.stderr.write("\r\u001b[K");
  return new Map(classes.map(({ name, tally }) => [name, tally]));
}

function refuse(attempt: Attempt, name: string, tally: Tally): void {
  const { keyring, expected } = attempt;
  const text = typeof attempt.text === "string" ? received(attempt.text) : attempt.text;
  tally.tried++;
  const before = performance.now();
  let thrown: unknown;
  try {
    open(text, keyring, expected);
  } catch (error) {
    thrown = error;
  }
  tally.micros.push((performance.now() - before) * 1000);
  if (thrown === undefined) {
    tally.accepted++;
    report("accepted", name, attempt);
  } else if (!(thrown instanceof TokenError) || thrown.reason === "internal") {
    tally.threwElse++;
    report(inspect(thrown), name, attempt);
  } else {
    outward.add(`${thrown.name}: ${thrown.message}`);
  }
}

// A flat text, as from the wire. V8 joins a concatenated text when it is first read, and that time would be counted as
// time in `open`.
function received(text: string): unknown {
  return JSON.parse(JSON.stringify(text));
}

// The keys of a run are derived from its seed and seal nothing else, so the text may be shown. Ten are enough to see what
// is wrong.
function report(what: string, name: string, { text, expected }: Attempt): void {
  if (reported++ >= 10) return;
  console.log(`${name}: ${what}: ${typeof text === "string" ? JSON.stringify(text) : typeof text}`);
  console.log(`  for ${JSON.stringify(expected)}`);
}

function sum(all: ReadonlyMap<string, Tally>): Omit<Tally, "micros"> {
  const totals = { tried: 0, accepted: 0, threwElse: 0 };
  for (const tally of all.values()) {
    totals.tried += tally.tried;
    totals.accepted += tally.accepted;
    totals.threwElse += tally.threwElse;
  }
  return totals;
}

function print(all: ReadonlyMap<string, Tally>): void {
  row("class", "tried", "accepted", "threw else", "median µs");
  for (const [name, tally] of all) {
    row(name, tally.tried, tally.accepted, tally.threwElse, quantile(tally.micros, 0.5).toFixed(1));
  }
}

function compareTimes(on: Samples, by: Random): void {
  const sample = pick(
    on.genuine.filter(({ text }) => text.length > 1000 && text.length < 2000),
    () => 0,
  );
  const { text, keyring, expected } = sample;
  const at = text.lastIndexOf(".") + 100;
  const changed = (to: string) => text.slice(0, at) + to + text.slice(at + 1);
  const cases: readonly (readonly [string, Attempt])[] = [
    ["forged: one character", { ...sample, text: changed(text[at] === "A" ? "B" : "A") }],
    ["forged: other key", { ...sample, keyring: on.impostor }],
    ["malformed: stray character", { ...sample, text: changed("!") }],
    ["malformed: other version", { ...sample, text: `v2${text.slice(2)}` }],
    ["malformed: no dots", { ...sample, text: text.replaceAll(".", "A") }],
    ["unknown key id", { ...sample, text: text.replace(/\.[^.]+/, (id) => id.replace(/.$/, "x")) }],
    ["other tool", { ...sample, expected: { ...expected, target: "resolve_bug2" } }],
    ["other method", { ...sample, expected: { ...expected, method: "prompts/get2" } }],
    ["other arguments", { ...sample, expected: { ...expected, argumentsDigest: "x".repeat(43) } }],
    ["other principal", { ...sample, expected: { ...expected, principal: "mallory" } }],
    ["other server", { ...sample, expected: { ...expected, audience: "tracked" } }],
    ["late clock", { ...sample, expected: { ...expected, now: Infinity } }],
  ];
  const micros = cases.map((): number[] => []);
  for (let turn = 0; turn < 60_000; turn++) {
    const index = by(cases.length);
    const [, attempt] = pick(cases, () => index);
    const before = performance.now();
    try {
      open(attempt.text, attempt.keyring, attempt.expected);
    } catch {
      // It is refused, as the run above has shown. Only the time matters here.
    }
    pick(micros, () => index).push((performance.now() - before) * 1000);
  }
  console.log(
    `\nTime to refuse one token of ${text.length} bytes (${keyring.opening.size} keys), interleaved\n`,
  );
  row("what is wrong", "tried", "p10 µs", "median µs", "p90 µs");
  for (const [index, [name]] of cases.entries()) {
    const taken = pick(micros, () => index);
    const [low, mid, high] = [0.1, 0.5, 0.9].map((q) => quantile(taken, q).toFixed(1));
    row(name, taken.length, low, mid, high);
  }
  console.log(`
A text that does not decrypt costs one failed decryption, whatever is wrong with it, and the checks are
then made on a decoy. A genuine token for another request costs one decryption that succeeds, and real
checks. So the time tells these two groups apart, which reveals only whether the token is genuine. Within
each group, it should not tell one reason from another.`);
}

function quantile(of: readonly number[], q: number): number {
  const sorted = of.toSorted((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN;
}

function row(name: string, ...cells: readonly unknown[]): void {
  console.log(name.padEnd(38) + cells.map((cell) => String(cell).padStart(12)).join(""));
}
