// Runs the command in a terminal of its own. A test sends keys and reads the screen.

import process from "node:process";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { config, installed, main, tsconfig } from "./where.ts";

export interface Screen {
  readonly press: (...keys: readonly string[]) => void;
  /** The text on the screen, without the blanks at the end of each line. */
  readonly text: () => string;
  /** All that was written to it, with its escape sequences. */
  readonly raw: () => string;
  /**
   * Resolves when the screen shows it. If the command ends or the time is up first, rejects with the text of the
   * screen.
   */
  readonly shows: (what: RegExp, withinMs?: number) => Promise<void>;
  readonly ended: Promise<number>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

export interface ScreenOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly columns?: number;
}

export function parleyOnScreen(args: readonly string[], options: ScreenOptions): Screen {
  const { cwd, env = {}, columns: cols = 80 } = options;
  const rows = 60;
  // The environment of the person who runs the tests must not decide about colours.
  const { NO_COLOR: _no, FORCE_COLOR: _force, CI: _ci, ...rest } = process.env;
  const pty = spawn(process.execPath, [main, ...args], {
    cols,
    rows,
    cwd,
    env: {
      ...rest,
      ...installed,
      TERM: "xterm-256color",
      TSX_TSCONFIG_PATH: tsconfig,
      XDG_CONFIG_HOME: config,
      ...env,
    },
  });
  const terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true });
  const watchers = new Set<() => void>();
  let raw = "";
  pty.onData((data) => {
    raw += data;
    terminal.write(data, () => {
      for (const watcher of watchers) watcher();
    });
  });
  const text = () => {
    const { active } = terminal.buffer;
    const lines = Array.from({ length: active.length }, (_, y) =>
      (active.getLine(y)?.translateToString(true) ?? "").trimEnd(),
    );
    return lines.join("\n").trimEnd();
  };
  const ended = new Promise<number>((resolve) => {
    // The last output may not have reached the screen yet.
    pty.onExit(({ exitCode }) => terminal.write("", () => resolve(exitCode)));
  });
  const shows = (what: RegExp, withinMs = 60_000) =>
    new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        watchers.delete(look);
        settle();
      };
      const missed = () => end(() => reject(new Error(`No ${what} on the screen:\n${text()}`)));
      const look = () => {
        if (what.test(text())) end(resolve);
      };
      const timer = setTimeout(missed, withinMs);
      watchers.add(look);
      void ended.then(() => (what.test(text()) ? end(resolve) : missed()));
      look();
    });
  return {
    press: (...keys) => {
      for (const key of keys) pty.write(key);
    },
    text,
    raw: () => raw,
    shows,
    ended,
    kill: (signal) => pty.kill(signal),
  };
}

/** As a keyboard sends them. */
export const keys = {
  enter: "\r",
  escape: "\u001B",
  up: "\u001B[A",
  down: "\u001B[B",
  right: "\u001B[C",
  space: " ",
  backspace: "\u007F",
  interrupt: "\u0003",
  end: "\u0004",
};
