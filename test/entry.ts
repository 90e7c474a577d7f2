// Which entry the HTTP tests talk to: the fast one, or, in the files that run them once more, the SDK's.

import type { ListenOptions } from "mcp-parley";

export const entry: { fast: boolean } = { fast: true };

/** For `app.listen`. */
export const overEntry = (options: ListenOptions = {}): ListenOptions => ({ ...options, ...entry });
