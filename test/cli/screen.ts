// The command in a terminal of its own: keys go in, and what is on its screen can be read.

import process from "node:process";
import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { config, main, tsconfig } from "./where.ts";

export interface Screen {
  readonly press: (...keys: readonly string[]) => void;
  /** Everything on it, without what is behind the last letter of a line. */
  readonly text: () => string;
  /** All that was written to it, with its escape sequences. */
  readonly raw: () => string;
  /** Resolves when the screen shows it; rejects, with the screen, when it ends or time is over before. */
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
  // Nothing of whoever runs the tests decides about colours.
  const { NO_COLOR: _no, FORCE_COLOR: _force, CI: _ci, ...rest } = process.env;
  const pty = spawn(process.execPath, [main, ...args], {
    cols,
    rows,
    cwd,
    env: {
      ...rest,
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
    // What was written last may still be on its way to the screen.
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
