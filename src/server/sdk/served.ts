// Requests whose round was served before the SDK saw them (http.ts), and what came of it.

import type { RoundResponse } from "../round/request.ts";

export const servedBefore: WeakMap<Request, RoundResponse> = new WeakMap();
