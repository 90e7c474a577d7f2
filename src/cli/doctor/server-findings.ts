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

/** How far the clock of a server is ahead of this machine's, in milliseconds: at least, and at most. */
export interface ClockOffset {
  readonly least: number;
  readonly most: number;
}

/** Reads a server's clock. `now` is read before and after the request, because the request takes time. */
export async function clockOf(
  url: string,
  now: () => number = Date.now,
): Promise<ClockOffset | undefined> {
  const before = now();
  const date = await dateOf(url);
  return date === undefined ? undefined : { least: date - now(), most: date - before };
}

/** Compares a server's clock with this machine's. */
export function clockFinding(clock: ClockOffset | undefined): Finding {
  if (clock === undefined) return notChecked("clock", "the server does not send its time.");
  const { least: ahead, most } = clock;
  const behind = -most;
  if (ahead <= skewMs && behind <= skewMs)
    return fine("clock", "the same as on this machine, within a few seconds");
  const off = ahead > 0 ? `${duration(ahead)} ahead of` : `${duration(behind)} behind`;
  return wrong(
    "clock",
    `${off} this machine, so states expire too early or too late. Use NTP on both.`,
  );
}

/** Compares the clocks of replicas with each other, whatever this machine's clock says. */
export function replicaClocksFinding(
  clocks: readonly { readonly url: string; readonly clock: ClockOffset | undefined }[],
): readonly Finding[] {
  const known = clocks.flatMap(({ url, clock }) =>
    clock === undefined ? [] : [{ url, ...clock }],
  );
  const [first, ...others] = known.toSorted((a, b) => a.least - b.least);
  const last = others.at(-1);
  if (first === undefined || last === undefined) return [];
  const apartMs = last.least - first.most;
  if (apartMs <= skewMs) return [fine("clocks", "the replicas have the same time")];
  return [
    wrong(
      "clocks",
      `${new URL(last.url).host} is ${duration(apartMs)} ahead of ${new URL(first.url).host}. A state expires by the clock of the replica that opens it, so replicas further apart than limits.tokenTtlMs refuse each other's calls. Use NTP on all of them.`,
    ),
  ];
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
  const [, why] = /^not ready: (.+)\n$/.exec(await startOf(response)) ?? [];
  if (response.status === 200) return fine("ready", "its keys and its store are available");
  if (response.status === 503) {
    const problem = why === undefined ? "its keys or its store are missing" : plainLine(why);
    return wrong("ready", `not ready: ${problem}. See the log of the server for the error.`);
  }
  return notChecked("ready", "the server has no /readyz, which app.listen() would serve.");
}

/** The beginning of the body, because whatever responds may send any amount. */
async function startOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value?.subarray(0, 200));
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
