// Times, durations and sizes as people read them.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** "850 ms", "4.2 s", "3 min 10 s", "2 h 5 min", "3 d 4 h". */
export function duration(ms: number): string {
  if (ms < 1) return "0 ms";
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 10 * second) return `${(ms / second).toFixed(1)} s`;
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < hour) return two(ms, minute, "min", second, "s");
  if (ms < day) return two(ms, hour, "h", minute, "min");
  return two(ms, day, "d", hour, "h");
}

function two(ms: number, large: number, largeUnit: string, small: number, unit: string): string {
  const rest = Math.floor((ms % large) / small);
  const whole = `${grouped(Math.floor(ms / large))} ${largeUnit}`;
  return rest === 0 ? whole : `${whole} ${rest} ${unit}`;
}

/** The largest unit of a duration: "now", "12 s", "30 min", "2 h", "5 d". Up to ten minutes with the seconds: "1 min 59 s". */
export function rough(ms: number): string {
  if (ms < second) return "now";
  if (ms < minute) return `${Math.floor(ms / second)} s`;
  if (ms < 10 * minute) return two(ms, minute, "min", second, "s");
  if (ms < hour) return `${Math.floor(ms / minute)} min`;
  if (ms < 2 * day) return `${Math.floor(ms / hour)} h`;
  return `${grouped(Math.floor(ms / day))} d`;
}

/** "3 min ago", or "in 2 h" for a time to come. */
export function relative(at: number, now: number): string {
  const past = now - at;
  if (past < -second) return `in ${rough(-past)}`;
  return past < second ? "just now" : `${rough(past)} ago`;
}

/** The date and time of day where the reader is, to the second: "2026-11-16 18:12:03". */
export function exact(at: number): string {
  const date = new Date(at);
  const days = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(digits).join("-");
  return `${days} ${clock(at)}`;
}

/** The time of day: "18:12:03". */
export function clock(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(digits).join(":");
}

const digits = (value: number): string => String(value).padStart(2, "0");

/** "312 B", "4.2 kB", "1.3 MB". */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** With a thin space between thousands: "100 000". */
export function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, "\u{202F}");
}

/** "1 task", "3 tasks". */
export const count = (value: number, one: string, many: string = `${one}s`): string =>
  `${grouped(value)} ${value === 1 ? one : many}`;

/** An id shortened to what tells it apart. */
export const shortId = (id: string): string => (id.length > 10 ? `${id.slice(0, 8)}…` : id);

/** "a", "a and b", "a, b and c". */
export const listed = (texts: readonly string[]): string =>
  texts.length < 2 ? (texts[0] ?? "") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
