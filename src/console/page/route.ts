// Which screen is shown, and its filters. All of it is in the fragment of the address, so that a screen can be bookmarked
// and sent to a colleague, wherever the console is mounted.

import { computed, signal } from "@preact/signals";

/** A place in the console: `#/tasks?status=failed` has the path ["tasks"]. */
export interface Route {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

const fragment = signal(location.hash);
addEventListener("hashchange", () => void (fragment.value = location.hash));

/** Where the reader is. */
export const route = computed((): Route => {
  const [path = "", query = ""] = fragment.value.replace(/^#\/?/, "").split("?", 2);
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
});

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type Query = Readonly<Record<string, string | undefined>>;

/** The address of a place. Empty filters are left out. */
export function href(path: readonly string[], query: Query = {}): string {
  const filters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) filters.set(name, value);
  const text = filters.toString();
  return `#/${path.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

/** Goes to a place, as a link does. */
export const go = (path: readonly string[], query?: Query): void =>
  void (location.hash = href(path, query));

/** Changes filters of the screen. This is no step for the back button. */
export function refine(changes: Query): void {
  const { path, query } = route.peek();
  replace(href(path, { ...Object.fromEntries(query), ...changes }));
}

/** Shows another place under the current step of the back button. */
function replace(address: string): void {
  history.replaceState(null, "", address);
  fragment.value = address;
}
