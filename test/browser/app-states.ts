// Everything that the App can show. The tests look at each with axe, and the pictures show them to people.

import type { AppHost, Look, Shown } from "./app-host.ts";

/** Shows the App of a tool until it is in this state. */
export type ReachApp = (host: AppHost, look: Look) => Promise<Shown>;

const asks =
  (tool: string): ReachApp =>
  async (host, look) => {
    const shown = await host.show(tool, look);
    await shown.frame.getByRole("button").first().waitFor();
    return shown;
  };

/** Shows the App, presses its first button, and waits for what comes then. */
const pressed =
  (tool: string, role: "alert" | "status", fill?: string): ReachApp =>
  async (host, look) => {
    const shown = await asks(tool)(host, look);
    if (fill !== undefined) await shown.frame.getByLabel("Your answer").first().fill(fill);
    await shown.frame.getByRole("button").first().click();
    await shown.frame.locator(`section[role=${role}], div[role=${role}]`).waitFor();
    return shown;
  };

/** A host with colours and a font of its own. */
const variables = {
  "--color-background-primary": "light-dark(#fffaf0, #201a10)",
  "--color-background-secondary": "light-dark(#f5ecd9, #17120a)",
  "--color-text-primary": "light-dark(#2b1d00, #f7ead0)",
  "--color-text-secondary": "light-dark(#6b5520, #cbb88a)",
  "--color-background-inverse": "light-dark(#5c3d00, #ffd98a)",
  "--color-text-inverse": "light-dark(#ffffff, #2b1d00)",
  "--font-sans": "Georgia, serif",
};

export const appStates: Readonly<Record<string, ReachApp>> = {
  form: asks("book"),
  several: asks("both"),
  long: asks("long"),
  "right-to-left": asks("arabic"),
  errors: pressed("book", "alert"),
  "several-errors": pressed("both", "alert"),
  unsent: (host, look) => pressed("trip", "alert", "Oslo")(host, { ...look, calls: "refuse" }),
  confirmation: async (host, look) => {
    const shown = await asks("book")(host, look);
    await shown.frame.getByLabel("Your name").fill("Ada");
    await shown.frame.getByLabel("Pasta").check();
    await shown.frame.getByRole("button", { name: "Send" }).click();
    await shown.frame.getByRole("button", { name: "Yes" }).waitFor();
    return shown;
  },
  done: async (host, look) => {
    const shown = await appStates["confirmation"]?.(host, look);
    if (shown === undefined) throw new Error("There is no such state.");
    await shown.frame.getByRole("button", { name: "Yes" }).click();
    await shown.frame.getByRole("heading", { name: "Done" }).waitFor();
    return shown;
  },
  "host-colours": (host, look) => asks("book")(host, { ...look, variables }),
  sending: async (host, look) => {
    const shown = await asks("trip")(host, { ...look, calls: "ignore" });
    await shown.frame.getByLabel("Your answer").fill("Oslo");
    await shown.frame.getByRole("button", { name: "Send" }).click();
    await shown.frame.getByText("Sending your answer.").waitFor();
    return shown;
  },
  running: pressed("slow", "status", "Oslo"),
  elsewhere: pressed("login", "status", "Ada"),
  ended: async (host, look) => {
    const shown = await asks("book")(host, look);
    await shown.frame.getByRole("button", { name: "Decline" }).click();
    await shown.frame.getByRole("heading", { name: "The call has ended" }).waitFor();
    return shown;
  },
};
