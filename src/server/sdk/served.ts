// Requests whose round was served before the SDK saw them (http.ts), and what came of it.

import type { RoundAnswer } from "../round/request.ts";

export const servedBefore: WeakMap<Request, RoundAnswer> = new WeakMap();
