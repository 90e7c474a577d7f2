// At a terminal, keys answer, decline, cancel and leave each kind of question. The tests read the screen.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, onTestFinished, test } from "vitest";
import { keys, parleyOnScreen } from "./screen.ts";
import type { Screen } from "./screen.ts";
import { deskUrl, emptyFolder, parley } from "./run.ts";

const { enter, escape, down, space, interrupt, end } = keys;

interface At {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly columns?: number;
}

async function calling(tool: string, at: At = {}): Promise<Screen> {
  return shown(["call", await deskUrl(), tool], at);
}

function shown(
  args: readonly string[],
  { cwd = emptyFolder(), env = { NO_COLOR: "1" }, columns = 80 }: At = {},
): Screen {
  const screen = parleyOnScreen(args, { cwd, env, columns });
  onTestFinished(() => screen.kill("SIGKILL"));
  const name = expect.getState().currentTestName?.split(" > ").at(-1) ?? "";
  const { PARLEY_SCREENS: folder } = process.env;
  // To look at the screens, run: PARLEY_SCREENS=/tmp/screens npx vitest run test/cli/terminal.test.ts
  if (folder !== undefined) {
    onTestFinished(() =>
      writeFileSync(join(folder, `${name.replaceAll(/\W+/g, "-")}.txt`), `${screen.text()}\n`),
    );
  }
  return screen;
}

/** Waits for a question before it types the next answer, as a person does. */
async function answer(screen: Screen, question: RegExp, ...typed: string[]): Promise<void> {
  await screen.shows(question);
  screen.press(...typed);
}

describe("answered by keys", () => {
  test("text", async () => {
    const screen = await calling("text");
    await answer(screen, /◆ {2}Who are you\?/, "Ada", enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(
      /^text\n① [\d.]+ m?s +asks name\n {3}Esc: decline or cancel · Ctrl-C: leave, and resume later\n│\n◇ {2}Who are you\?\n│ {2}Ada\n {3}↳ you [\d.]+ m?s\n② [\d.]+ m?s +done\n✔ .* \(server .* · you .*\) · 2 rounds · state \d+ B\nHello, Ada$/,
    );
  });

  test("text that is streamed is on the screen before the question, and is not printed twice", async () => {
    const screen = await calling("report");
    await screen.shows(/Revenue grew\.\s*\n① [\d.]+ m?s +asks by/);
    await answer(screen, /◆ {2}By how much\?/, "5 %", enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(
      /It grew by 5 %\.\n② [\d.]+ m?s +done\n✔ .*\n(?: .*\n)*\s*Sources: none$/,
    );
    expect(screen.text().match(/Revenue/g)).toHaveLength(1);
  });

  test("a server in development reports its steps at the end", async () => {
    const screen = await calling("rounds");
    await answer(screen, /◆ {2}First\?/, "Ada", enter);
    await answer(screen, /◆ {2}Second\?/, "2", enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/steps note \(ran 0, replayed 1\)\nAda 2$/);
  });

  test("formats, a default and an optional field", async () => {
    const screen = await calling("formats");
    await answer(screen, /◆ {2}Mail/, "ada", enter);
    await answer(screen, /Expected an email address\./, "@example.com", enter);
    await answer(screen, /◆ {2}Site · with https/, "https://example.com", enter);
    await answer(screen, /◆ {2}Day\n│ {2}2026-11-15/, enter);
    await answer(screen, /◆ {2}Time/, "2026-11-15T09:30:00Z", enter);
    await answer(screen, /◆ {2}Note \(optional\)\n│ {2}text; press Enter to skip/, enter);
    expect(await screen.ended).toBe(0);
    const content = {
      mail: "ada@example.com",
      site: "https://example.com",
      day: "2026-11-15",
      at: "2026-11-15T09:30:00Z",
    };
    expect(screen.text().replaceAll("\n", "")).toContain(
      JSON.stringify({ action: "accept", content }),
    );
  });

  test("numbers within bounds", async () => {
    const screen = await calling("numbers");
    await answer(screen, /◆ {2}Seats\n│ {2}a whole number from 1 to 9/, "0", enter);
    await answer(screen, /Expected a whole number from 1 to 9\./, keys.backspace, "3", enter);
    await answer(screen, /◆ {2}Weight\n│ {2}2\.5/, enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain(`{"action":"accept","content":{"seats":3,"weight":2.5}}`);
  });

  test("one choice, several choices, yes or no", async () => {
    const screen = await calling("choices");
    await answer(screen, /◆ {2}Size\n│ {2}○ S\n│ {2}● M/, enter);
    await answer(
      screen,
      /◆ {2}Colour \(optional\)\n│ {2}● Red\n│ {2}○ Green\n│ {2}○ skip/,
      down,
      enter,
    );
    await answer(screen, /◆ {2}Extras/, space, down, space, down, space, enter);
    await answer(
      screen,
      /Expected 1 to 2 of "Sugar", "Milk", "Ice"\.\n│\n◆ {2}Extras/,
      space,
      enter,
    );
    await answer(screen, /◆ {2}A gift\?\n│ {2}○ Yes \/ ● No/, enter);
    await answer(screen, /◆ {2}Fast\? \(optional\)/, down, down, enter);
    expect(await screen.ended).toBe(0);
    const content = { size: "M", colour: "g", extras: ["Milk", "Ice"], isGift: false };
    expect(screen.text().replaceAll("\n", "")).toContain(
      JSON.stringify({ action: "accept", content }),
    );
  });

  test("a page: the host is shown with a warning, and nothing is opened", async () => {
    const screen = await calling("page");
    await answer(
      screen,
      /The page is on xn--80ak6aa92e\.com\n {3}https:\/\/xn--80ak6aa92e\.com\/in\?x=1\n {3}▲ The host name contains letters that look like others[^]*◆ {2}Open the page yourself/,
      enter,
    );
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/signed in$/);
  });

  test("an answer in place of the model", async () => {
    const screen = await calling("model");
    await answer(screen, /user: A motto, please[^]*Your answer for the model/, "Onwards", enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/Onwards$/);
  });

  test("a task that asks", async () => {
    const screen = await calling("work");
    await answer(screen, /① .*task \S+[^]*asks name[^]*◆ {2}For whom\?/, "Ada", enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/③ .*done\n[^]*Sent to Ada$/);
  });
});

describe("not answered", () => {
  test("declined", async () => {
    const screen = await calling("confirm");
    await answer(screen, /◆ {2}Are you sure\?\n.*● Yes\n.*○ No\n(?!.*○)/, escape);
    await answer(screen, /◆ {2}Leave this question\?/, down, enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/↳ you .* declined\n[^]*no$/);
  });

  test("cancelled", async () => {
    const screen = await calling("text");
    await answer(screen, /◆ {2}Who are you\?/, "A", escape);
    await answer(screen, /◆ {2}Leave this question\?/, down, down, enter);
    expect(await screen.ended).toBe(1);
    expect(screen.text()).toMatch(
      /↳ you .* cancelled\n② .*failed[^]*was cancelled without an answer\.$/,
    );
  });

  test("Ctrl-D opens the menu, and Go back returns to the question", async () => {
    const screen = await calling("text");
    await answer(screen, /◆ {2}Who are you\?/, end);
    await answer(screen, /◆ {2}Leave this question\?/, enter);
    await answer(screen, /Leave this question\?\n│ {2}Go back\n│\n◆ {2}Who are you\?/, "Bo", enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/Hello, Bo$/);
  });

  test("declining to answer for the model ends the call", async () => {
    const screen = await calling("model");
    await answer(screen, /Your answer for the model/, escape);
    await answer(screen, /◆ {2}Leave this question\?/, down, enter);
    expect(await screen.ended).toBe(1);
    expect(screen.text()).toMatch(/You did not answer for the model, so the call was cancelled\.$/);
  });

  test("a question that times out is removed from the screen, and the next one is asked", async () => {
    const screen = await calling("late");
    await answer(screen, /◆ {2}Quick, who\?/, "Ad");
    await answer(screen, /The server withdrew this question\.[^]*◆ {2}Go on without\?/, enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/without$/);
  });

  test("interrupted at a question, and resumed", async () => {
    const url = await deskUrl();
    const cwd = emptyFolder();
    const screen = shown(["call", url, "rounds"], { cwd });
    await answer(screen, /◆ {2}First\?/, "Ada", enter);
    await answer(screen, /◆ {2}Second\?/, "7", interrupt);
    expect(await screen.ended).toBe(130);
    const [, id = ""] = /Resume with: parley resume ([\da-f]{8})/.exec(screen.text()) ?? [];
    const again = shown(["resume", id], { cwd });
    await answer(again, /② again +asks second[^]*◆ {2}Second\?/, "2", enter);
    expect(await again.ended).toBe(0);
    expect(again.text()).toMatch(/Ada 2$/);
  });

  test("a task that waits says so when nothing is asked, and when it is resumed", async () => {
    const url = await deskUrl();
    const cwd = emptyFolder();
    const waiting = / {3}Waiting for the task · Ctrl-C: leave it running, and resume later\n?/g;
    const screen = shown(["call", url, "nap"], { cwd });
    await screen.shows(/◆ {2}For how long\?/);
    screen.press("9", enter);
    await screen.shows(/↳ you .*\n {3}Waiting for the task · /);
    screen.press(interrupt);
    expect(await screen.ended).toBe(130);
    expect(screen.text().match(waiting)).toHaveLength(1);
    const [, id = ""] = /Resume with: parley resume ([\da-f]{8})/.exec(screen.text()) ?? [];
    const again = shown(["resume", id], { cwd });
    await again.shows(/^nap\n {3}Waiting for the task · /);
    again.press(interrupt);
    expect(await again.ended).toBe(130);
  });

  test("interrupted while the server works", async () => {
    const screen = await calling("slow");
    await screen.shows(/^slow/);
    screen.press(interrupt);
    expect(await screen.ended).toBe(130);
    expect(screen.text()).toContain("Resume with: parley resume ");
  });
});

describe("the screen", () => {
  test("progress is a bar that changes in place", async () => {
    const screen = await calling("count");
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/^count\n {3}▇{15}▁{5} 3\/4 sending\n① .*done\n/);
  });

  test("progress of a task is read from its status", async () => {
    const screen = await calling("work");
    await screen.shows(/① .*task \S+\n {3}working ▇{5}▁{15} packing \(1\/4\)\n② .*asks name/);
    await answer(screen, /For whom\?/, "Ada", enter);
    expect(await screen.ended).toBe(0);
  });

  test("text from a server cannot overwrite it", async () => {
    const screen = await calling("hostile");
    await answer(screen, /◆ {2}red evil/, "x", enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/^hostile\n[^]*cleared31m$|^hostile\n[^]*cleared$/);
    expect(screen.raw()).not.toContain("\u001B[2J");
  });

  test("uses colours unless NO_COLOR is set", async () => {
    const colour = await calling("confirm", { env: {} });
    await answer(colour, /Are you sure/, enter);
    await colour.ended;
    expect(colour.raw()).toContain("\u001B[32m");
    const none = await calling("confirm");
    await answer(none, /Are you sure/, enter);
    await none.ended;
    expect(none.raw()).not.toContain("\u001B[32m");
    expect(none.raw()).not.toContain("\u001B[2m");
    expect(none.text().replaceAll(/[\d.]+ m?s */g, "_ ")).toBe(
      colour.text().replaceAll(/[\d.]+ m?s */g, "_ "),
    );
  });

  test("no line is wider than the terminal", async () => {
    const screen = await calling("work", { columns: 40 });
    await answer(screen, /For whom\?/, "Ada", enter);
    expect(await screen.ended).toBe(0);
    // If a line is cut off in mid-word, the terminal has broken it.
    const lines = screen
      .text()
      .split("\n")
      .filter((line) => line.length === 40);
    expect(lines.filter((line) => !line.endsWith("…"))).toEqual([]);
    expect(screen.text()).toMatch(/working ▇{3}▁{7} packing \(1\/4\)\n② /);
  });

  test("text beside a prompt is broken between words", async () => {
    const screen = await calling("page", { columns: 40 });
    await answer(
      screen,
      /▲ The host name contains letters\n {3}that look like others\.[^]*◆/,
      enter,
    );
    expect(await screen.ended).toBe(0);
  });
});

test("each help text has usage, examples and exit codes, within 80 columns", async () => {
  const { stdout: all } = await parley(["--help"], { cwd: emptyFolder() });
  const [, list = ""] = /\nCommands\n([^]*?)\n\n/.exec(all) ?? [];
  const commands = [...list.matchAll(/^ {2}(\w+) /gm)].map(([, command = ""]) => command);
  expect(commands).toEqual(expect.arrayContaining(["call", "prompt", "read", "migrate"]));
  for (const command of commands) {
    const { code, stdout } = await parley([command, "--help"], { cwd: emptyFolder() });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[A-Z].*\.\n\nUsage\n/);
    const examples = /\nExamples\n((?: {2}.+\n)+)/.exec(stdout)?.[1] ?? "";
    expect(examples).toMatch(new RegExp(`^  .*parley ${command}`, "m"));
    expect(stdout).toMatch(/\nExit codes\n {2}\d/);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  }
});
