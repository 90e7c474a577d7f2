// Counts what Node itself keeps for this process, whoever asked for it, the SDK included: timers, sockets, listeners.

import { createHook } from "node:async_hooks";
import { EventEmitter, getEventListeners } from "node:events";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How many of each there are at one moment. */
export type Count = Readonly<Record<string, number>>;

export interface Census {
  /** Sockets that are open, timers that have neither fired nor been cancelled, and immediates, each by the line that made it. */
  readonly held: () => Count;
  /** The listeners on what has had one so far, such as a server or a connection. The function counts the same again. */
  readonly listeners: () => () => Count;
  /** The listeners on signals that can still abort and that something still refers to. */
  readonly signals: () => Count;
  readonly end: () => void;
}

/** Begins to count. */
export function census(): Census {
  const timers = new Map<number, string>();
  const hook = createHook({
    init: (id, type) => {
      if (type === "Timeout" || type === "Immediate") timers.set(id, `${type} ${origin()}`);
    },
    destroy: (id) => void timers.delete(id),
  }).enable();
  const known = new WeakSet<EventEmitter>();
  const emitters: WeakRef<EventEmitter>[] = [];
  const signals: { readonly signal: WeakRef<AbortSignal>; readonly from: string }[] = [];
  /* oxlint-disable typescript/unbound-method -- they are called with the `this` of the caller */
  const { on } = EventEmitter.prototype;
  const { addEventListener } = EventTarget.prototype;
  /* oxlint-enable typescript/unbound-method */
  const watchedOn: typeof on = function watchedOn(this: EventEmitter, ...all) {
    if (!known.has(this)) emitters.push(new WeakRef(this));
    known.add(this);
    return on.apply(this, all);
  };
  Object.assign(EventEmitter.prototype, { on: watchedOn, addListener: watchedOn });
  EventTarget.prototype.addEventListener = function watched(this: EventTarget, ...all) {
    if (this instanceof AbortSignal) signals.push({ signal: new WeakRef(this), from: origin() });
    addEventListener.apply(this, all);
  };
  return {
    held: () => {
      const sockets = process.getActiveResourcesInfo().filter((kind) => kind.includes("TCP"));
      return tally([...timers.values(), ...sockets].filter((one) => !isOfTheTest(one)));
    },
    listeners: () => {
      collectGarbage();
      const before = emitters.filter((emitter) => emitter.deref() !== undefined);
      return () => tally(before.flatMap((emitter) => listenersOf(emitter.deref())));
    },
    signals: () => {
      collectGarbage();
      return tally(signals.flatMap(({ signal, from }) => (isHeard(signal.deref()) ? from : [])));
    },
    end: () => {
      hook.disable();
      Object.assign(EventEmitter.prototype, { on, addListener: on });
      EventTarget.prototype.addEventListener = addEventListener;
    },
  };
}

function tally(names: readonly string[]): Count {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function listenersOf(emitter: EventEmitter | undefined): string[] {
  const kind = emitter?.constructor.name ?? "";
  const names = emitter?.eventNames() ?? [];
  return names.flatMap(
    (name) => emitter?.listeners(name).map(() => `${kind} ${String(name)}`) ?? [],
  );
}

const isHeard = (signal: AbortSignal | undefined): boolean =>
  signal?.aborted === false && getEventListeners(signal, "abort").length > 0;

/** The timers of vitest, and the one with which a listening server looks for connections that are late. */
const isOfTheTest = (one: string) => /vitest|setupConnectionsTracking/.test(one);

/** The line that made something, if it is not in Node, and otherwise how Node came to it. */
function origin(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 20;
  const lines = (new Error("made").stack ?? "").split("\n").slice(1);
  Error.stackTraceLimit = stackTraceLimit;
  const own = lines.filter((line) => !/census\.ts|async_hooks|clock\.ts/.test(line));
  const line = own.find((one) => /[\\/](src|test|node_modules)[\\/]/.test(one)) ?? own.join(" ");
  return line.trim().replace(/^.*[\\/](src|test|node_modules)[\\/]/, "$1/");
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
}

/** The memory that this process needs, without garbage. */
export function memory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
