// In development nobody signs in: the server prints a link with a secret in its fragment, which a browser never sends. The
// page exchanges the link for a session, once, so that a link in a history or a log is worth nothing. `parley console` lets
// its operator in by the same door.

import type { Core } from "../server/core.ts";
import type { Admitted } from "./operator.ts";
import { Refusal } from "./refusal.ts";
import { hostOf } from "./same-origin.ts";
import { sessionHeader } from "./wire.ts";

/** The most sessions that are kept. The oldest ends when there is another. */
const mostSessions = 20;

export class DevelopmentDoor {
  readonly #core: Pick<Core, "environment" | "logger">;
  readonly #sessions = new Set<string>();
  /** The link that has not been used yet. */
  #link: string | undefined;
  #address: string | undefined;

  readonly #operator: Admitted;
  /** `parley dev` keeps one session while the server restarts. */
  readonly #session = process.env["PARLEY_DEV_CONSOLE"];

  constructor(core: Pick<Core, "environment" | "logger">, person: Person = everyone) {
    this.#core = core;
    this.#operator = { ...developer, ...person };
    if (isSecret(this.#session)) this.#sessions.add(this.#session);
  }

  /** The console is served here. Prints the link. */
  isAt(address: string): void {
    this.#address = address;
    this.#print(address);
  }

  /** Makes a session of a link. Throws if the link is unknown or was used. */
  exchange(link: unknown, request: Request): string {
    const isUsable = this.#link !== undefined && link === this.#link;
    if (!isUsable) {
      this.#printAgain(request);
      throw new Refusal(
        401,
        "link_used",
        "A link opens the console once, and only the newest one does. There is a new one in the terminal where the server, or the command parley console, runs. Open that one.",
      );
    }
    this.#link = undefined;
    if (isSecret(this.#session)) return this.#session;
    const session = this.#core.environment.newId();
    const [oldest] = this.#sessions;
    if (oldest !== undefined && this.#sessions.size >= mostSessions) this.#sessions.delete(oldest);
    this.#sessions.add(session);
    return session;
  }

  /** Who has this session. */
  admit(request: Request): Admitted {
    const session = request.headers.get(sessionHeader);
    if (session !== null && this.#sessions.has(session)) return this.#operator;
    this.#printAgain(request);
    throw new Refusal(
      401,
      "signed_out",
      "Open the console with the link that the server has printed. It works once.",
    );
  }

  /** Prints a link if there is none to use, so that requests of strangers cannot fill the log. */
  #printAgain(request: Request): void {
    if (this.#link === undefined) this.#print(this.#address ?? addressIn(request));
  }

  #print(address: string): void {
    this.#link = this.#core.environment.newId();
    this.#core.logger.info(`console: ${address}#link=${this.#link}`);
  }
}

/** Where the page is that has sent this request, if it is on this machine. */
function addressIn(request: Request): string {
  const own = `http://${hostOf(request)}/`;
  const page = request.headers.get("referer") ?? "";
  if (!URL.canParse(page) || new URL(page).host !== new URL(own).host) return own;
  const { origin, pathname } = new URL(page);
  return `${origin}${pathname}`;
}

/** Whether it is long enough to be one. */
const isSecret = (text: string | undefined): text is string => (text ?? "").length >= 32;

type Person = Pick<Admitted, "who" | "principal" | "isAnyone">;

const everyone: Person = { who: "developer", principal: "developer", isAnyone: true };

const developer: Omit<Admitted, "who" | "principal"> = {
  groups: [],
  may: "act_for_client",
  values: true,
  isInEveryGroup: true,
};
