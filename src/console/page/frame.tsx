// The frame around every screen: where to go, who looks, and the one line that says whether anything is stuck.

import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect } from "preact/hooks";
import type { Inbox, Session, TaskList } from "../wire.ts";
import { Clamped } from "./clamped.tsx";
import { Confirmation } from "./confirm.tsx";
import { clock } from "./format.ts";
import { Icon, StatusMark } from "./icons.tsx";
import { isChangeOrTime, isLive, useReading } from "./live-reading.ts";
import { href, route } from "./route.ts";
import { trouble } from "./server.ts";
import type { Trouble } from "./server.ts";
import { stuckText } from "./stuck-text.ts";

/** Who looks, and at what. It is known before the first screen is drawn. */
export const session = signal<Session | undefined>(undefined);

const screens = ["inbox", "tasks", "calls", "health", "try"] as const;
export type Screen = (typeof screens)[number];

const titles: Readonly<Record<Screen, string>> = {
  inbox: "Inbox",
  tasks: "Tasks",
  calls: "Calls",
  health: "Health",
  try: "Try a tool",
};

/** The screen that the address names. */
export function shownScreen(): Screen {
  const [first] = route.value.path;
  return screens.find((screen) => screen === first) ?? "inbox";
}

/** `hasData`: whether the page has read anything before. */
function troubleText(wrong: Trouble, hasData: boolean): string {
  if (wrong.kind === "signed_out") return wrong.message;
  const since = clock(wrong.since);
  const shown = hasData ? "What you see is older than that." : "Nothing can be shown.";
  return wrong.kind === "store"
    ? `The store has not answered since ${since}. ${shown} Actions are off until it is back.`
    : `The server cannot be reached since ${since}. ${shown} Actions are off. The page tries again by itself.`;
}

/** How many at most the frame counts. More are shown as "50+". */
const most = 50;

export function Frame({ children }: { readonly children: ComponentChild }): ComponentChild {
  const who = session.value;
  const shown = shownScreen();
  const hasStore = who?.hasStore === true;
  const inbox = useReading<Inbox>(hasStore ? `api/inbox?limit=${most}` : undefined);
  const stuck = useReading<TaskList>(
    hasStore ? `api/tasks?stuck=1&limit=${most}` : undefined,
    isChangeOrTime,
  );
  useEffect(() => {
    document.title = `${titles[shown]} · ${who?.app ?? "Parley"}`;
  }, [shown, who?.app]);
  const counts: Partial<Record<Screen, number | undefined>> = {
    inbox: inbox.data?.items.length,
    tasks: stuck.data?.tasks.length,
  };
  const offered = screens.filter(
    (screen) => (screen !== "calls" && screen !== "try") || who?.isDevelopment === true,
  );
  return (
    <>
      <a class="skip" href="#main" onClick={toMain}>
        Skip to the content
      </a>
      <header>
        <p class="name">
          <strong>{who?.app ?? "…"}</strong> <span>{who?.version}</span>
        </p>
        <nav aria-label="Screens">
          {offered.map((screen) => (
            <a
              key={screen}
              href={href([screen])}
              {...(screen === shown ? { "aria-current": "page" as const } : undefined)}
            >
              <Icon name={screen} />
              <span>{screen === "try" ? "Try" : titles[screen]}</span>
              <Badge screen={screen} value={counts[screen]} />
            </a>
          ))}
        </nav>
        <div class="operator">
          <Liveness />
          <p>
            {who?.who} <span>{who && abilityOf(who)}</span>
          </p>
        </div>
      </header>
      <Glance stuck={stuck.data} hasStore={hasStore} />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Confirmation />
    </>
  );
}

function toMain(event: Event): void {
  // The fragment of the address is the screen, so the link must not change it.
  event.preventDefault();
  document.getElementById("main")?.focus();
}

const abilities = {
  look: "may look",
  act: "may act",
  act_for_client: "may act for clients",
} as const;

/** Without the keys nothing can be answered. */
const abilityOf = ({ may, hasKeys }: Session): string =>
  hasKeys || may === "look" ? abilities[may] : "may cancel tasks";

function Badge(props: { readonly screen: Screen; readonly value: number | undefined }) {
  const { screen, value = 0 } = props;
  if (value === 0) return undefined;
  const text = value >= most ? `${most}+` : String(value);
  return (
    <span class={screen === "tasks" ? "badge stuck" : "badge"}>
      {text}
      <span class="unseen">{screen === "tasks" ? " stuck" : " waiting"}</span>
    </span>
  );
}

function Liveness(): ComponentChild {
  // Without the store, the server hears of no changes.
  const isOn = isLive.value && trouble.value === undefined;
  return (
    <p class={isOn ? "live" : "live off"} role="status">
      <svg viewBox="0 0 12 12" width="10" height="10" aria-hidden="true">
        <circle cx="6" cy="6" r="4" />
      </svg>
      {isOn ? "Live" : "Off"}
      <span class="unseen">{isOn ? "" : ": changes do not arrive"}</span>
    </p>
  );
}

/** A strip that is always there, so that nothing moves when it has something to say. */
function Glance(props: {
  readonly stuck: TaskList | undefined;
  readonly hasStore: boolean;
}): ComponentChild {
  const wrong = trouble.value;
  if (wrong !== undefined) {
    return (
      <aside class="glance bad" aria-label="At a glance">
        <p role="status">{troubleText(wrong, props.stuck !== undefined)}</p>
      </aside>
    );
  }
  const stuck = props.stuck?.tasks ?? [];
  const [first] = stuck;
  const told = stuckText(stuck, most);
  if (first !== undefined && told !== undefined) {
    return (
      <aside class="glance warn" aria-label="At a glance">
        <StatusMark mark="stuck" />{" "}
        <a href={stuck.length > 1 ? href(["tasks"], { stuck: "1" }) : href(["tasks", first.id])}>
          {told.what}
        </a>
        <Clamped text={told.why} />
      </aside>
    );
  }
  const text = !props.hasStore ? "" : props.stuck === undefined ? "" : "Nothing is stuck.";
  return (
    <aside class="glance" aria-label="At a glance">
      {text}
    </aside>
  );
}
