// What it costs to seal and open one round's token as the journal grows, with and without deflate. It measures processor
// time, which does not include other work on the machine.

import { newKey, parseKeys } from "../../src/token/keyring.ts";
import { digest } from "../../src/token/canonical.ts";
import type { Claims } from "../../src/token/claims.ts";
import { open } from "../../src/token/open.ts";
import { seal } from "../../src/token/seal.ts";
import type { Found } from "./found.ts";

interface Case {
  readonly name: string;
  readonly jsonBytes: number;
  readonly tokenBytes: number;
  readonly runs: number;
  readonly once: () => void;
  readonly cpuMicros: number[];
}

const now = 1_800_000_000_000;
const keyring = parseKeys([newKey("2026-11"), newKey("2026-05")]);

export function measureToken(isQuick: boolean): readonly Found[] {
  const journals: readonly (readonly [name: string, state: readonly unknown[]])[] = [
    ["1 entry", entriesOf(1)],
    ["1 KiB", journalOf(1024)],
    ["16 KiB", journalOf(16 * 1024)],
    ["50 entries", entriesOf(50)],
    ["200 entries", entriesOf(200)],
  ];
  const pairs = journals.map(([name, state]) => ({
    plain: caseOf(name, state, false),
    deflated: caseOf(name, state, true),
  }));
  measure(
    pairs.flatMap(({ plain, deflated }) => [plain, deflated]),
    isQuick ? 7 : 15,
  );
  const [few, many] = pairs.slice(-2).map(({ plain }) => plain.cpuMicros);
  return [
    ...pairs.flatMap(({ plain, deflated }) => [
      { name: `token/cpu µs, ${plain.name}`, samples: plain.cpuMicros },
      { name: `token/bytes÷journal, ${plain.name}`, samples: [plain.tokenBytes / plain.jsonBytes] },
      {
        name: `token/deflated÷plain bytes, ${plain.name}`,
        samples: [deflated.tokenBytes / plain.tokenBytes],
      },
      {
        name: `token/deflated÷plain cpu, ${plain.name}`,
        samples: ratios(deflated.cpuMicros, plain.cpuMicros),
      },
    ]),
    { name: "token/an entry, 200÷50 entries", samples: ratios(many, few).map((one) => one / 4) },
  ];
}

const ratios = (of: readonly number[] = [], by: readonly number[] = []) =>
  of.map((one, batch) => one / (by[batch] ?? Number.NaN));

function caseOf(name: string, state: readonly unknown[], deflate: boolean): Case {
  const claims: Claims<readonly unknown[]> = {
    method: "tools/call",
    target: "resolve_bug",
    argumentsDigest: digest({ id: 4711 }),
    principal: "https://id.example|alice",
    audience: "tracker",
    callId: "7Yc0zY0kS8q1m2n3o4p5qg",
    round: 3,
    roundsLeft: 7,
    expiresAt: now + 660_000,
    state: { kind: "inline", value: state },
  };
  const expected = { ...claims, now, maxBytes };
  const sealed = () => seal(claims, keyring, { deflate, maxBytes });
  return {
    name,
    jsonBytes: JSON.stringify(state).length,
    tokenBytes: sealed().length,
    runs: state.length > 50 ? 200 : 600,
    once: () => {
      if (open(sealed(), keyring, expected).round !== claims.round)
        throw new Error("The token opened with wrong claims.");
    },
    cpuMicros: [],
  };
}

const maxBytes = 1024 * 1024;

// The texts differ, because equal ones would flatter deflate.
function entriesOf(count: number): unknown[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `step-${at}`,
    kind: "ok",
    value: { id: at * 7919, title: digest(at) },
  }));
}

function journalOf(bytes: number): unknown[] {
  const journal = entriesOf(Math.floor(bytes / 105));
  const filler = bytes - JSON.stringify([...journal, ""]).length;
  return [...journal, "x".repeat(Math.max(0, filler))];
}

// Measures batch by batch over all cases, so that a machine that slows down does so for all of them.
function measure(all: readonly Case[], batches: number): void {
  for (const { once } of all) repeat(once, 300);
  for (let batch = 0; batch < batches; batch++) {
    for (const { once, runs, cpuMicros } of all) {
      const before = process.cpuUsage();
      repeat(once, runs);
      const { user, system } = process.cpuUsage(before);
      cpuMicros.push((user + system) / runs);
    }
  }
}

function repeat(run: () => void, times: number): void {
  for (let time = 0; time < times; time++) run();
}
