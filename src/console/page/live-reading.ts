// What changes while the page is open. The server says that something changed, and the page reads again what it shows.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveLine } from "../wire.ts";
import { clockAhead, note, openLive, read, Refusal, trouble } from "./server.ts";

/** Whether changes arrive. */
export const isLive = signal(false);

/** The server's time. It advances every second while the page can be seen. */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now() + clockAhead.peek();
}, 1000);

type Hear = (line: LiveLine) => void;
const listeners = new Set<Hear>();

/** How long the page waits before it connects again. */
const retryMs = 1000;

/** The server ends a stream that has lasted for long, and the page goes on with another at once. */
const longMs = 60_000;

/** Reads the stream of changes for as long as the page is open. `again`: the server may be another one than before. */
export async function follow(again: () => void): Promise<never> {
  for (let times = 0; ; times += 1) {
    const began = Date.now();
    try {
      const body = await openLive();
      if (times > 0) again();
      await readLines(body);
      if (Date.now() - began > longMs) continue;
    } catch {
      // `trouble` says what is wrong.
    }
    isLive.value = false;
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function readLines(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
  isLive.value = true;
  // What changed while there was no connection.
  tell({ type: "any" });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") hear(line);
  }
}

function hear(text: string): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wire.ts says what the server sends
  const line = JSON.parse(text) as LiveLine;
  if (line.type === "beat") return tellTime();
  if (line.type !== "store") return tell(line);
  note(line.isDown ? "store" : undefined, line.since);
  if (!line.isDown) tell({ type: "any" });
}

function tell(line: LiveLine): void {
  for (const listener of listeners) listener(line);
}

/** Time has passed. A page that cannot be seen is told when it can. */
function tellTime(): void {
  if (document.visibilityState === "visible") tell({ type: "beat" });
}
document.addEventListener("visibilitychange", tellTime);

/** For what depends on time, such as whether a task is late: no change says so, only that time passes. */
export const isChangeOrTime = (line: LiveLine): boolean => line.type !== "call";

const isChange = (line: LiveLine): boolean => line.type !== "beat";

/** What was read from an address, and whether that worked. What was read before stays while it is read again. */
export interface Reading<T> {
  readonly data: T | undefined;
  readonly error: Refusal | undefined;
  readonly reload: () => void;
}

/** Changes come in bursts, so the page reads again this long after the first of them. */
const calmMs = 250;
/** On a busy server something always changes. Every page that reads again costs it many looks into its store. */
const gapMs = 2_000;

/** Reads an address now, and again whenever a change concerns it. */
export function useReading<T>(
  address: string | undefined,
  concerns: (line: LiveLine) => boolean = isChange,
): Reading<T> {
  const [state, setState] = useState<{ address?: string; data?: T; error?: Refusal }>({});
  const [version, setVersion] = useState(0);
  useEffect(() => {
    if (address === undefined) return;
    const abort = new AbortController();
    read<T>(address, abort.signal).then(
      (data) => setState({ address, data }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        const refusal = error instanceof Refusal ? error : new Refusal(0, "unknown", String(error));
        // An old picture is better than none, and the header says how old it is.
        setState((known) =>
          known.address === address && known.data !== undefined && isPassing(refusal)
            ? known
            : { address, error: refusal },
        );
      },
    );
    return () => abort.abort();
  }, [address, version]);
  useChanges(concerns, () => setVersion((known) => known + 1));
  const isCurrent = state.address === address;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => setVersion((known) => known + 1),
  };
}

/** Calls back when something has changed that concerns the caller, once for a burst of changes. */
export function useChanges(concerns: (line: LiveLine) => boolean, changed: () => void): void {
  const latest = useRef({ concerns, changed });
  latest.current = { concerns, changed };
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let lastAt = -Infinity;
    const listener: Hear = (line) => {
      if (!latest.current.concerns(line)) return;
      timer ??= setTimeout(
        () => {
          timer = undefined;
          lastAt = performance.now();
          latest.current.changed();
        },
        Math.max(calmMs, lastAt + gapMs - performance.now()),
      );
    };
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      clearTimeout(timer);
    };
  }, []);
}

/** Whether the request may succeed later. */
export const isPassing = ({ status }: Refusal): boolean => status === 0 || status === 503;

/** Whether nothing can be changed at the moment. */
export const isOffline = (): boolean => trouble.value !== undefined;
