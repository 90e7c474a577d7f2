// Requests that arrive when they arrive, whether or not the server is ready for them (an "open loop").
//
// With as many requests under way as there are connections, a server that stalls is sent less, and the requests that
// would have come during the stall are never counted. Here the times are fixed beforehand, and a request's latency counts
// from the time at which it should have been sent, so waiting for a free connection is part of it.

/** Poisson arrivals: the gaps between them are independent, as with many users. Milliseconds from the start. */
export function schedule(perSecond: number, ms: number, random: () => number): Float64Array {
  const times: number[] = [];
  for (let at = 0; ;) {
    at -= (Math.log(1 - random()) * 1_000) / perSecond;
    if (at >= ms) return Float64Array.from(times);
    times.push(at);
  }
}

interface Loop<Lane> {
  readonly times: Float64Array;
  readonly lanes: readonly Lane[];
  /** Milliseconds, in the same unit as the times. */
  readonly now: () => number;
  /** Calls back in the next turn of the event loop, after what has arrived was handled. */
  readonly soon: (next: () => void) => void;
  /** Sends one request and calls back when its response is complete. */
  readonly send: (lane: Lane, index: number, done: () => void) => void;
}

/** Resolves with the latency of each request, in the order of the schedule. */
export function openLoop<Lane>({
  times,
  lanes,
  now,
  soon,
  send,
}: Loop<Lane>): Promise<Float64Array> {
  const latencies = new Float64Array(times.length);
  const free = [...lanes];
  const start = now();
  let next = 0;
  let done = 0;
  const begin = (lane: Lane, index: number, due: number) =>
    send(lane, index, () => {
      latencies[index] = now() - start - due;
      done += 1;
      free.push(lane);
    });
  return new Promise((resolve) => {
    const turn = () => {
      const at = now() - start;
      for (let due = times[next]; due !== undefined && due <= at; due = times[next]) {
        const lane = free.pop();
        if (lane === undefined) break;
        begin(lane, next, due);
        next += 1;
      }
      if (done === times.length) resolve(latencies);
      else soon(turn);
    };
    turn();
  });
}
