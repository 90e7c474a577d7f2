// Runs work in several lanes at once, one item after the other in each lane, until a number or a time is reached.

import process from "node:process";

export interface Limits {
  readonly count: number;
  readonly ms: number;
}

export interface Rate {
  readonly count: number;
  readonly perSecond: number;
  /** Processor time of this process for each item, in milliseconds. Other load on the machine hardly affects it. */
  readonly cpuMs: number;
}

/** The time runs until the last item that was started has ended, so all of them count. */
export async function loop(
  lanes: number,
  { count, ms }: Limits,
  work: (lane: number) => Promise<unknown>,
): Promise<Rate> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  let begun = 0;
  const one = async (lane: number) => {
    while (begun < count && performance.now() - start < ms) {
      begun += 1;
      await work(lane);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => one(lane)));
  const { user, system } = process.cpuUsage(cpu);
  return {
    count: begun,
    perSecond: (begun * 1_000) / (performance.now() - start),
    cpuMs: (user + system) / 1_000 / begun,
  };
}
