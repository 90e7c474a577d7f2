// An open question as the console shows it, and who may answer it.

import type { PageQuestion } from "../server/pages/page-question.ts";
import { openJson, places } from "../tasks/sealing.ts";
import type { Sealer } from "../tasks/sealing.ts";
import type { TaskRecord, Wait } from "../tasks/task.ts";
import { isObject } from "../util/objects.ts";
import type { Json } from "../util/json.ts";
import { isPermitted, whyMayNotDecide } from "./operator.ts";
import type { Admitted } from "./operator.ts";
import { missingKey, opened } from "./store-view.ts";
import type { StoreView } from "./store-view.ts";
import type { InboxItem } from "./wire.ts";

/** What a question says, as far as it can be opened. */
export type OpenQuestion = Pick<PageQuestion, "message" | "form" | "field" | "schema" | "about"> & {
  /** Why nobody can answer it here. */
  readonly obstacle?: string;
};

/** Opens a question. Undefined without the keys, and for a wait that says nothing. */
export function questionIn(
  { sealer }: StoreView,
  task: TaskRecord,
  wait: Wait,
): OpenQuestion | undefined {
  return opened(sealer, (open) => pageOf(open, task, wait) ?? requestOf(open, task, wait));
}

function pageOf(sealer: Sealer, { callId }: TaskRecord, wait: Wait): OpenQuestion | undefined {
  const { page, wire } = wait;
  if (page === undefined) return undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by the task, which made it
  const question = openJson(sealer, page, places.page(callId, wire)) as unknown as PageQuestion;
  const obstacle = obstacleIn(question);
  return obstacle === undefined ? question : { ...question, obstacle };
}

/** What only the person can do who is asked, whatever an operator may. */
function obstacleIn({ provider, isSecret }: PageQuestion): string | undefined {
  if (provider !== undefined) return "Only the person who is asked can sign in there.";
  return isSecret === true
    ? "This is a secret. Only the person who is asked may enter it."
    : undefined;
}

function requestOf(sealer: Sealer, { callId }: TaskRecord, wait: Wait): OpenQuestion | undefined {
  const { request, wire } = wait;
  if (request === undefined) return undefined;
  const shown: Json = openJson(sealer, request, places.question(callId, wire));
  const { method, params } = isObject(shown) ? shown : {};
  const { message, requestedSchema, mode } = isObject(params) ? params : {};
  const text = typeof message === "string" ? message : "";
  if (method !== "elicitation/create") {
    return { message: text, obstacle: "Only the client itself can answer this." };
  }
  if (mode === "url") {
    return { message: text, obstacle: "The client's user has to open an address for this." };
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine made the request
  return { message: text, form: requestedSchema as OpenQuestion["form"] };
}

/** Why this operator may not answer. Undefined if they may. */
export function whyNot(
  view: Pick<StoreView, "sealer" | "inside">,
  operator: Admitted,
  task: Pick<TaskRecord, "principal">,
  wait: Wait,
  question: OpenQuestion | undefined,
): string | undefined {
  if (!isPermitted(operator, "act")) return "You may look, and not act.";
  // An answer is sealed, too.
  if (view.sealer === undefined) return noKeys;
  if (wait.kind === "question") {
    if (!isPermitted(operator, "act_for_client")) {
      return "The client is asked, and you may not answer in its place.";
    }
    return question === undefined ? noKey(view, wait) : question.obstacle;
  }
  const { group } = wait;
  const isMember = group === undefined || operator.groups.includes(group);
  if (!isMember && operator.isInEveryGroup !== true) {
    return `Members of the group "${group}" answer this, and you are not one of them.`;
  }
  if (wait.needs === undefined) return undefined;
  if (question === undefined) return noKey(view, wait);
  const { principal } = operator;
  const why = whyMayNotDecide(operator, task.principal);
  if (why !== undefined) return why;
  if (principal === task.principal) return "You made this call, so others decide.";
  const isTwice = wait.decisions?.some(({ who }) => who === principal) === true;
  return isTwice ? "You have decided already." : undefined;
}

const noKeys = "This console does not have the keys of the server, so it cannot read the question.";

/** Replicas can have different keys, while keys are rotated or by mistake. */
function noKey(view: Pick<StoreView, "sealer" | "inside">, { page, request }: Wait): string {
  const key = missingKey(view, [page, request]);
  return key === undefined
    ? noKeys
    : `The question is sealed with the key "${key}", which this console does not have. Add it to PARLEY_KEYS.`;
}

/** The members of an item that only those see who may answer, or who may see values. */
export function questionFacts(
  question: OpenQuestion | undefined,
  isShown: boolean,
): Pick<InboxItem, "message" | "about" | "form" | "field" | "schema"> {
  if (question === undefined || !isShown) return {};
  const { message, about, form, field, schema } = question;
  return {
    message,
    ...(about !== undefined && { about }),
    ...(form !== undefined && { form }),
    ...(field !== undefined && { field }),
    ...(schema !== undefined && { schema }),
  };
}
