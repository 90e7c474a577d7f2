// Checks of a server: its clock, whether it is ready, and what it offers.

import { own } from "../../util/objects.ts";
import type { Connection } from "../../client/index.ts";
import { tasksExtension } from "../../protocol/task.ts";
import { counted, duration } from "../screen/amounts.ts";
import { toolsOf } from "../server/catalog.ts";
import { plainLine } from "../screen/plain.ts";
import { fine, notChecked, wrong } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { modernVersion } from "../../protocol/versions.ts";

/** The tolerance, because the Date header has whole seconds and a request takes time. */
const skewMs = 5_000;

/** Compares clocks. `now` is read before and after the request, so that its duration does not count. */
export async function clockFinding(url: string, now: () => number = Date.now): Promise<Finding> {
  const before = now();
  const date = await dateOf(url);
  const after = now();
  if (date === undefined) return notChecked("clock", "the server does not send its time.");
  const ahead = date - after;
  const behind = before - date;
  if (ahead <= skewMs && behind <= skewMs)
    return fine("clock", "the same as on this machine, within a few seconds");
  const off = ahead > 0 ? `${duration(ahead)} ahead of` : `${duration(behind)} behind`;
  return wrong(
    "clock",
    `${off} this machine, so states expire too early or too late. Use NTP on both.`,
  );
}

async function dateOf(url: string): Promise<number | undefined> {
  // Every response has the header, and this one is cheap.
  const response = await fetch(new URL("/healthz", url), { signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? undefined : date;
}

/** Whether the server is ready. `app.listen` serves /readyz; another host may not. */
export async function readyFinding(url: string): Promise<Finding> {
  const response = await fetch(new URL("/readyz", url), { signal: AbortSignal.timeout(10_000) });
  await response.body?.cancel();
  if (response.status === 200) return fine("ready", "its keys and its store are available");
  if (response.status === 503) {
    return wrong("ready", "not ready: its keys or its store are missing. See its log.");
  }
  return notChecked("ready", "the server has no /readyz, which app.listen() would serve.");
}

/** What the server offers, and which protocol it speaks. */
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
  const isModern = era === modernVersion;
  return [
    fine("server", `${plainLine(server.name)} ${plainLine(server.version)}`),
    isModern
      ? fine("protocol", era)
      : notChecked(
          "protocol",
          `only ${era}. Its sessions live in one process, so requests need session affinity.`,
        ),
    fine("offers", offers.join(", ")),
  ];
}
