// The ways of a question to the person. Which of them are open is computed from the first request of a call and kept with
// the call (R13), so that a deployment with other options does not change a call that is under way.

import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { abilitiesOf } from "../../protocol/capabilities.ts";
import type { Ability, ExtensionId } from "../../protocol/capabilities.ts";
import { appsExtension, appType } from "../../protocol/paused-call.ts";
import { own } from "../../util/objects.ts";

/**
 * How a question reaches the person. "form": the client shows a form. "url": the client offers our page. "app": our form
 * inside the conversation. "relay": the model asks in the chat. "link": the model passes on the address of our page.
 */
export type Way = "form" | "url" | "app" | "relay" | "link";

/** How an answer came. "delivery": through `app.deliver` or `app.decide`. "console": an operator gave it. */
export type Via = Way | "delivery" | "console";

/** What the server offers besides the client's own forms. */
export interface Reach {
  /** `parley({ relay: true })`. */
  readonly relay: boolean;
  /** Whether there is a public address for pages. In development it is known only once the app listens. */
  readonly hasPages: () => boolean;
}

/** The ways that are open to a call, one letter for each. They travel in tokens. */
export type OpenWays = string;

const letters = { form: "f", url: "u", app: "a", relay: "r", link: "l" } as const;
/** A confirmation may go by relay, too. Otherwise a model could approve for a user who is not verified. */
const relaysConfirmation = "c";

/** The first request of a call, as far as it opens ways. */
interface FirstRequest {
  readonly capabilities: ClientCapabilities;
  readonly principal: string | undefined;
  readonly facts: { readonly headers?: unknown };
}

/** What asks, as far as it opens ways. Written out, because the definition of a handler imports this file. */
interface Asker {
  readonly method: string;
  readonly isAdopted?: boolean | undefined;
  readonly ui?: "form" | undefined;
}

/** The ways that are open to a call of this handler. */
export function waysOf(
  { reach }: { readonly reach: Reach },
  { method, isAdopted, ui }: Asker,
  { capabilities, principal, facts }: FirstRequest,
): OpenWays {
  const { relay } = reach;
  const url = reach.hasPages();
  const abilities = abilitiesOf(capabilities);
  if (!relay && !url && ui === undefined) return formsOnly(abilities);
  // Only a tool's result can tell a model what is missing. An adopted tool has no keys that would last.
  const canPause = method === "tools/call" && isAdopted !== true;
  // In the order of preference. Written without lists, because it runs in every call that asks.
  let open: OpenWays = formsOnly(abilities);
  if (url && abilities.includes("url")) open += letters.url;
  if (!canPause) return open;
  if (ui === "form" && showsApps(capabilities)) open += letters.app;
  if (!relay) return open;
  open += letters.relay;
  if (url) open += letters.link;
  // Nothing is relayed for a client with forms, and the headers of a request are not read for nothing.
  if (open.startsWith(letters.form)) return open;
  // Over stdio there are no headers, and the client runs for the user who started it.
  const isKnownCaller = principal !== undefined || facts.headers === undefined;
  return isKnownCaller ? open + relaysConfirmation : open;
}

/** In the order of preference. */
const ways = ["form", "url", "app", "relay", "link"] as const satisfies readonly Way[];

/** The ways of a call that was recorded without them: by version 0.1.0, or because they are no more than this. */
export const formsOnly = (abilities: readonly (Ability | ExtensionId)[]): OpenWays =>
  abilities.includes("form") ? letters.form : "";

/** Whether a question allows a way. */
export interface Privacy {
  readonly sensitive?: boolean | undefined;
  readonly relay?: boolean | undefined;
  /** A model must not say yes for its user, unless the author allows it and the caller is known. */
  readonly isConfirmation?: boolean | undefined;
}

/** The first open way that a question allows. Undefined if there is none. */
export function wayOf(
  open: OpenWays,
  { sensitive, relay, isConfirmation }: Privacy,
): Way | undefined {
  return ways.find((way) => {
    if (!open.includes(letters[way])) return false;
    if (way === "url" || way === "link") return true;
    if (sensitive === true) return false;
    if (way !== "relay") return true;
    return relay === true && (isConfirmation !== true || open.includes(relaysConfirmation));
  });
}

/** Whether a question that the model may relay has a way. */
export const canAsk = (open: OpenWays): boolean => wayOf(open, { relay: true }) !== undefined;

/** Whether a call may become a task although its client cannot follow one: the model asks how it stands. */
export const relaysTasks = (task: string | undefined, open: OpenWays): boolean =>
  task === "optional" && open.includes(letters.relay);

/** Whether no question of a call can go to its client, and a model brings the answers or passes on where they are given. */
export const needsModel = (open: OpenWays): boolean => /^[arl]/.test(open);

/** The ways that are left where the client follows a task by itself, because no result tells a model anything. */
export const withoutModel = (open: OpenWays): OpenWays => open.replaceAll(/[^fu]/g, "");

/** Whether a question that goes this way ends the request, because no `requestState` can travel with it. */
export const pausesFor = (way: Way | undefined): boolean =>
  way === "app" || way === "relay" || way === "link";

function showsApps({ extensions }: ClientCapabilities): boolean {
  const types = own(own(extensions, appsExtension), "mimeTypes");
  return Array.isArray(types) && types.includes(appType);
}
