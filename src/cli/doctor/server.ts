// What a server shows of itself: whether it answers, its clock, what it offers.

import { own } from "../../util/objects.ts";
import type { Connection } from "../../client/index.ts";
import { tasksExtension } from "../../protocol/task.ts";
import { counted, duration } from "../screen/amounts.ts";
import { toolsOf } from "../server/listing.ts";
import { plainLine } from "../screen/plain.ts";
import { fine, notChecked, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";

/** The Date header has whole seconds, and a request takes its time. */
const skewMs = 5_000;

/** `now` is asked before and after: what lies in between is no skew. */
export async function clockFinding(url: string, now: () => number = Date.now): Promise<Finding> {
  const before = now();
  const date = await dateOf(url);
  const after = now();
  if (date === undefined) return notChecked("clock", "the server does not say what time it is.");
  const ahead = date - after;
  const behind = before - date;
  if (ahead <= skewMs && behind <= skewMs)
    return fine("clock", "the same as here, to a few seconds");
  const off = ahead > 0 ? `${duration(ahead)} ahead of` : `${duration(behind)} behind`;
  return wrong(
    "clock",
    `${off} this machine: states expire too early or too late. Set both by NTP.`,
  );
}

async function dateOf(url: string): Promise<number | undefined> {
  // Any answer has the header; this one costs the server nothing.
  const response = await fetch(new URL("/healthz", url), { signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? undefined : date;
}

/** `app.listen` has a place to ask; a host of one's own may have none. */
export async function readyFinding(url: string): Promise<Finding> {
  const response = await fetch(new URL("/readyz", url), { signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  if (response.status === 200)
    return fine("ready", "it says that its keys and its store are there");
  if (response.status === 503) {
    return wrong(
      "ready",
      "it says that it is not: keys or the store are missing. Its log says which.",
    );
  }
  return notChecked("ready", "it has no /readyz, as app.listen() would.");
}

export async function offerFindings(connection: Connection): Promise<readonly Finding[]> {
  const { server, era, sdk } = connection;
  const tools = await toolsOf(connection);
  const hasTasks =
    own(own(sdk.getServerCapabilities(), "extensions"), tasksExtension) !== undefined;
  const canBeTasks = tools.filter((tool) =>
    ["optional", "required"].includes(String(own(own(tool, "execution"), "taskSupport"))),
  );
  const offers = [
    counted(tools.length, "tool"),
    ...(canBeTasks.length > 0 ? [`${canBeTasks.length} of them as tasks`] : []),
    ...(hasTasks ? ["the tasks extension"] : []),
  ];
  const isModern = era === "2026-07-28";
  return [
    fine("server", `${plainLine(server.name)} ${plainLine(server.version)}`),
    isModern
      ? fine("protocol", era)
      : notChecked(
          "protocol",
          `only ${era}: its sessions live in one process, so requests need affinity.`,
        ),
    fine("offers", offers.join(", ")),
  ];
}
