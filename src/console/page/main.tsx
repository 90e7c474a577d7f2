// The page: opens the session, then shows the screen that the address names.

// oxlint-disable-next-line import/no-unassigned-import -- esbuild writes it to a file of its own
import "./page.css";
import { render } from "preact";
import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Session } from "../wire.ts";
import { CallScreen } from "./call-screen.tsx";
import { CallsScreen } from "./calls-screen.tsx";
import { HealthScreen } from "./health-screen.tsx";
import { InboxScreen } from "./inbox-screen.tsx";
import { follow, isPassing } from "./live-reading.ts";
import { route } from "./route.ts";
import { openLink, read, Refusal } from "./server.ts";
import { Frame, session, shownScreen } from "./frame.tsx";
import { TaskScreen } from "./task-screen.tsx";
import { TasksScreen } from "./tasks-screen.tsx";
import { TryScreen } from "./try-screen.tsx";

function Console(): ComponentChild {
  const { path } = route.value;
  const place = path.join("/");
  const isFirst = useRef(true);
  useEffect(() => {
    // A new screen begins at its title, for the keyboard and for screen readers. The first one begins at the top.
    if (!isFirst.current) document.querySelector<HTMLElement>("main h1")?.focus();
    isFirst.current = false;
  }, [place]);
  return (
    <Frame>
      <ShownScreen key={place} detail={path[1]} />
    </Frame>
  );
}

function ShownScreen({ detail }: { readonly detail: string | undefined }): ComponentChild {
  switch (shownScreen()) {
    case "inbox":
      return <InboxScreen />;
    case "tasks":
      return detail === undefined ? <TasksScreen /> : <TaskScreen id={detail} />;
    case "health":
      return <HealthScreen />;
    case "calls":
      return detail === undefined ? <CallsScreen /> : <CallScreen id={detail} />;
    case "try":
      return <TryScreen />;
  }
}

const root = document.getElementById("console");

async function open(): Promise<void> {
  if (root === null) return;
  render(<main class="closed">Opening the console…</main>, root);
  for (;;) {
    try {
      await openLink();
      session.value = await read<Session>("api/session");
      break;
    } catch (error) {
      const refusal = error instanceof Refusal ? error : new Refusal(0, "unknown", String(error));
      render(<Closed refusal={refusal} />, root);
      if (!isPassing(refusal)) return;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
  render(<Console />, root);
  await follow(() => void openAgain());
}

/** A deployment changes the version and the tools. What could not be read is read with the next stream. */
async function openAgain(): Promise<void> {
  try {
    session.value = await read<Session>("api/session");
  } catch {
    // `trouble` says what is wrong.
  }
}

const closedBecause: Readonly<Record<string, string>> = {
  link_used: "This link has been used",
  signed_out: "You are not signed in",
  not_allowed: "This console is not open to you",
  unreachable: "The server cannot be reached",
};

function Closed({ refusal }: { readonly refusal: Refusal }): ComponentChild {
  return (
    <main class="closed" id="main">
      <h1>{closedBecause[refusal.code] ?? "The console did not open"}</h1>
      <p role="alert">{refusal.message}</p>
    </main>
  );
}

await open();
