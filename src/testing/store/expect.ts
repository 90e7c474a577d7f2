// The few comparisons that the contract makes, in the words of vitest, without vitest: they also run in a Worker.

/** What a case expected was not so. */
export class Unexpected extends Error {}

/** Stands for a value of which only something is known. */
class Like {
  readonly accepts: (value: unknown) => boolean;
  readonly name: string;

  constructor(name: string, accepts: (value: unknown) => boolean) {
    this.name = name;
    this.accepts = accepts;
  }
}

interface Expectation {
  toBe(expected: unknown): void;
  toBeUndefined(): void;
  /** Members that are undefined are as good as missing. */
  toEqual(expected: unknown): void;
  /** Objects may have more members than expected. */
  toMatchObject(expected: unknown): void;
  toHaveLength(expected: number): void;
  toBeGreaterThan(bound: number): void;
  toBeGreaterThanOrEqual(bound: number): void;
  toBeLessThan(bound: number): void;
  toBeLessThanOrEqual(bound: number): void;
  readonly not: { toHaveProperty(name: string): void };
}

function expectation(got: unknown): Expectation {
  const check = (isRight: boolean, expected: string): void => {
    if (!isRight) throw new Unexpected(`Expected ${expected}, but got ${shown(got)}.`);
  };
  const same = (expected: unknown, isPart: boolean): void => {
    const place = difference(got, expected, isPart, "");
    if (place === undefined) return;
    const where = place.path === "" ? "" : ` At ${place.path}:`;
    throw new Unexpected(
      `Expected ${shown(expected)}, but got ${shown(got)}.${where && `${where} expected ${shown(place.expected)}, but got ${shown(place.got)}.`}`,
    );
  };
  const number = Number(got);
  return {
    toBe: (expected) => check(Object.is(got, expected), shown(expected)),
    toBeUndefined: () => check(got === undefined, "undefined"),
    toEqual: (expected) => same(expected, false),
    toMatchObject: (expected) => same(expected, true),
    toHaveLength: (expected) => {
      const length = isObject(got) ? got["length"] : undefined;
      check(length === expected, `${expected} of them`);
    },
    toBeGreaterThan: (bound) => check(number > bound, `more than ${bound}`),
    toBeGreaterThanOrEqual: (bound) => check(number >= bound, `at least ${bound}`),
    toBeLessThan: (bound) => check(number < bound, `less than ${bound}`),
    toBeLessThanOrEqual: (bound) => check(number <= bound, `at most ${bound}`),
    not: {
      toHaveProperty: (name) => check(!isObject(got) || !(name in got), `no member "${name}"`),
    },
  };
}

interface Expect {
  (got: unknown): Expectation;
  any(type: NumberConstructor): unknown;
  objectContaining(members: object): unknown;
  toSatisfy(accepts: (value: never) => boolean): unknown;
}

/** Begins a comparison. */
export const expect: Expect = Object.assign(expectation, {
  any: () => new Like("any number", (value) => typeof value === "number"),
  objectContaining: (members: object) =>
    new Like(
      `at least ${shown(members)}`,
      (value) => difference(value, members, true, "") === undefined,
    ),
  toSatisfy: (accepts: (value: never) => boolean) =>
    // The case knows what it gets.
    new Like("another value", (value) => accepts(value as never)),
});

interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly got: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** The first place where two values differ. */
function difference(
  got: unknown,
  expected: unknown,
  isPart: boolean,
  path: string,
): Difference | undefined {
  const here = { path, expected, got };
  if (expected instanceof Like) return expected.accepts(got) ? undefined : here;
  if (Object.is(got, expected)) return undefined;
  if (!isObject(got) || !isObject(expected)) return here;
  if (Array.isArray(expected) !== Array.isArray(got)) return here;
  if (expected instanceof Map || got instanceof Map) {
    if (!(expected instanceof Map && got instanceof Map)) return here;
    return difference(byName(got), byName(expected), isPart, path);
  }
  if (Array.isArray(expected) && expected.length !== got["length"]) return here;
  const names = new Set([...Object.keys(expected), ...(isPart ? [] : Object.keys(got))]);
  for (const name of names) {
    const below = Array.isArray(expected) ? `${path}[${name}]` : `${path}.${name}`;
    const found = difference(memberOf(got, name), memberOf(expected, name), isPart, below);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Not what an object inherits, because names such as "constructor" are among the odd texts. */
const memberOf = (value: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

const byName = (map: ReadonlyMap<unknown, unknown>) =>
  [...map].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1));

/** A value in a message, cut where it becomes long. */
function shown(value: unknown): string {
  if (value instanceof Like) return value.name;
  const text =
    JSON.stringify(value, (_name, member: unknown) =>
      member instanceof Like ? member.name : member instanceof Map ? [...member] : member,
    ) ?? String(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
