// Times and sizes as people read them.

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} days`;
}

/** How long ago it was. A time in the future, from a wrong clock, counts as now. */
export const ago = (since: number, now: number = Date.now()): string =>
  `${duration(Math.max(0, now - since))} ago`;

/** A number of bytes, for people. */
export function size(bytes: number): string {
  if (bytes < 10_000) return `${bytes} B`;
  const kilobytes = bytes / 1_000;
  return kilobytes < 10_000 ? `${kilobytes.toFixed(0)} kB` : `${(kilobytes / 1_000).toFixed(0)} MB`;
}

/** Reads `90`, `90s`, `500ms`, `5m`, `7d` as milliseconds. Undefined if it is none of these. */
export function readDuration(text: string): number | undefined {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (amount === undefined) return undefined;
  const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit] ?? 1_000;
  return Number(amount) * factor;
}

/** A number with its noun: "1 round", "2 rounds". */
export function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
