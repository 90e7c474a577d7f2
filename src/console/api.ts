// The console's API: which address does what, and what an operator needs for it.

import type { Inside } from "../server/inside.ts";
import type { RoundWatcher } from "../server/round/round-watch.ts";
import type { ApiCall } from "./api-call.ts";
import { listAudit } from "./audit-facts.ts";
import { CallRecorder } from "./call-recorder.ts";
import { cancelTask } from "./cancel-task.ts";
import { giveAnswer } from "./give-answer.ts";
import { giveDecision } from "./give-decision.ts";
import { showHealth } from "./health-facts.ts";
import { listInbox } from "./inbox.ts";
import { LiveStreams } from "./live-streams.ts";
import { isPermitted } from "./operator.ts";
import type { Admitted, Operator } from "./operator.ts";
import { json, notFound, Refusal } from "./refusal.ts";
import { jsonBody } from "./request-json.ts";
import { rerunTask } from "./rerun-task.ts";
import { RoundCounts } from "./round-counts.ts";
import { sessionOf } from "./session.ts";
import { storeView } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import { showLog, showTask } from "./task-details.ts";
import { listTasks } from "./task-rows.ts";
import { Tries } from "./try-tool.ts";

interface Route {
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  readonly may: Operator["may"];
  readonly serve: (call: ApiCall) => unknown;
}

/** The API of one app. */
export class ConsoleApi {
  readonly #routes: readonly Route[];

  readonly #live: LiveStreams;

  readonly #counts = new RoundCounts();

  /** The console of a store has no code to try, whatever the environment is. */
  constructor(inside: Inside, hasCode: boolean) {
    const counts = this.#counts;
    this.#live = new LiveStreams(inside);
    const { watching, environment } = inside.core;
    const isDevelopment = hasCode && environment.isDevelopment;
    const recorder = new CallRecorder((id) => this.#live.call(id));
    const served: RoundWatcher["served"] = (round) => {
      counts.served(round);
      if (isDevelopment) recorder.served(round);
    };
    if (watching !== undefined) watching.watcher = { served, refused: counts.refused };
    const tries = new Tries(inside);
    const developing = isDevelopment
      ? [
          get("calls", ({ operator }) => (checkValues(operator), recorder.list())),
          get("calls/:id", ({ operator, id }) => (checkValues(operator), recorder.details(id))),
          actForClient("try", (call) => (checkValues(call.operator), tries.begin(call))),
          actForClient("try/:id", (call) => (checkValues(call.operator), tries.goOn(call))),
        ]
      : [];
    const stored =
      <T>(serve: (view: StoreView, call: ApiCall) => Promise<T>) =>
      async (call: ApiCall): Promise<T> =>
        serve(await storeView(inside), call);
    this.#routes = [
      get("session", ({ operator }) => sessionOf(inside, operator, isDevelopment)),
      get("inbox", stored(listInbox)),
      get("tasks", stored(listTasks)),
      get("tasks/:id", stored(showTask)),
      get("tasks/:id/log", stored(showLog)),
      get(
        "health",
        stored((view, { operator }) => showHealth(view, operator, counts)),
      ),
      get("audit", stored(listAudit)),
      act("answers", stored(giveAnswer)),
      act("decisions", stored(giveDecision)),
      act("tasks/:id/cancel", stored(cancelTask)),
      act("tasks/:id/rerun", stored(rerunTask)),
      ...developing,
      get("live", ({ operator, signal }) => this.#live.open(operator.who, signal)),
    ];
  }

  /** Tells the pages that the store cannot be reached. Returns since when. */
  storeFailed(): number {
    this.#counts.storeFailed();
    return this.#live.storeFailed();
  }

  /** Serves one request. Throws a Refusal, or what the store throws. */
  async serve(request: Request, pathname: string, operator: Admitted): Promise<Response> {
    const found = this.#routes.filter(({ path }) => path.test(pathname));
    if (found.length === 0) throw notFound("The console has no such address.");
    const route = found.find(({ method }) => method === request.method);
    if (route === undefined) throw new Refusal(405, "invalid", "Use GET to read, POST to act.");
    if (!isPermitted(operator, route.may)) throw mayOnlyLook();
    const { path, serve, method } = route;
    const served: unknown = await serve({
      operator,
      id: idIn(path.exec(pathname)?.[1] ?? ""),
      query: new URL(request.url).searchParams,
      body: method === "POST" ? await jsonBody(request) : {},
      signal: request.signal,
    });
    return served instanceof Response ? served : json(served);
  }
}

const get = (path: string, serve: Route["serve"]): Route => ({
  method: "GET",
  path: pattern(path),
  may: "look",
  serve,
});

const act = (path: string, serve: Route["serve"]): Route => ({
  method: "POST",
  path: pattern(path),
  may: "act",
  serve,
});

const actForClient = (path: string, serve: Route["serve"]): Route => ({
  ...act(path, serve),
  may: "act_for_client",
});

const pattern = (path: string): RegExp =>
  new RegExp(`^/api/${path.replace(":id", "([^/]{1,600})")}$`);

function idIn(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notFound("There is no such task.");
  }
}

/** What calls are made of are values. */
function checkValues({ values }: Admitted): void {
  if (!values) throw new Refusal(403, "not_allowed", "You may not see what calls contain.");
}

const mayOnlyLook = () =>
  new Refusal(403, "not_allowed", "You may look, and not act. Ask whoever runs the server.");
