// What goes to the client while its call runs, if it asked for it: progress by a token, a log from a level on.

import { LOG_LEVEL_META_KEY } from "@modelcontextprotocol/server";
import type { RoundRequest } from "../round/request.ts";
import { levels } from "./message.ts";
import type { Envelope } from "./message.ts";
import type { Reply } from "./reply.ts";

export function notifier(envelope: Envelope, reply: Reply): RoundRequest["notify"] {
  const { progressToken, [LOG_LEVEL_META_KEY]: least } = envelope;
  if (progressToken === undefined && least === undefined) return undefined;
  let last = Number.NEGATIVE_INFINITY;
  return {
    progress: (progress, total, message) => {
      // The specification wants each larger than the one before.
      if (progressToken === undefined || !(progress > last)) return;
      last = progress;
      reply.notify("notifications/progress", { progressToken, progress, total, message });
    },
    log: (level, data) => {
      if (least === undefined || levels.indexOf(level) < levels.indexOf(least)) return;
      reply.notify("notifications/message", { level, data });
    },
  };
}
