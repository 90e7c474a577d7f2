// The timeline of a call: one line for each event, with the time of the server and the time of the person.

import { isObject, own } from "../../util/objects.ts";
import type { CallEvent, OpenQuestion } from "../../client/index.ts";
import { counted, duration, size } from "../screen/amounts.ts";
import { plainLine, someOf } from "../screen/plain.ts";
import { circled, signs, style } from "../screen/style.ts";
import { fitting, widthOf } from "../screen/printer.ts";
import type { Printer } from "../screen/printer.ts";
import { stepsKey } from "../../protocol/steps.ts";
import type { Steps } from "../../protocol/steps.ts";
import type { Totals, TotalsSeen } from "./totals.ts";

/** Leaves room for words on a narrow terminal. */
const barWidth = (columns: number) => Math.max(5, Math.min(20, Math.floor(columns / 4)));

/** Prints the events of one call. */
export class Timeline {
  readonly #printer: Printer;
  readonly #totals: Totals;
  /** The call was resumed, and its open questions are shown again before the server has responded. */
  #isRepeated: boolean;
  #isTask: boolean;

  constructor(printer: Printer, totals: Totals, isTask: boolean) {
    this.#isTask = isTask;
    this.#printer = printer;
    this.#totals = totals;
    this.#isRepeated = totals.rounds > 0;
  }

  called(tool: string, args: unknown): void {
    const shown = Object.entries(isObject(args) ? args : {}).map(([name, value]) => {
      return `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
    });
    const rest = fitting(shown.join(" "), this.#printer.columns, widthOf(tool) + 1);
    this.#printer.line(`${style.bold(plainLine(tool))} ${rest}`.trimEnd());
  }

  asks(questions: readonly OpenQuestion[]): void {
    this.#printer.settle();
    const keys = someOf(questions.map(({ key }) => key));
    const what = `asks ${style.bold(keys)}`;
    if (this.#isRepeated)
      this.#printer.line(`${circled(this.#totals.rounds)} ${"again".padEnd(7)} ${what}`);
    else this.#round(what);
    this.#isRepeated = false;
  }

  answered(ms: number, how: string): void {
    const what = how === "" ? "" : `  ${how}`;
    this.#printer.line(`   ${signs.you} ${style.dim("you")} ${duration(ms)}${what}`);
  }

  given(key: string, how: string): void {
    this.#printer.line(`   ${signs.you} ${plainLine(key, 40)}: ${how} ${style.dim("(given)")}`);
  }

  becameTask(taskId: string): void {
    this.#isTask = true;
    const used = widthOf(`${circled(this.#totals.rounds + 1)} ${" ".repeat(7)} task `);
    this.#round(style.cyan(`task ${fitting(taskId, this.#printer.columns, used)}`));
  }

  progress({ done, total, message = "" }: Extract<CallEvent, { type: "progress" }>): void {
    const amount = done === undefined ? amountIn(message) : { done, total };
    const width = barWidth(this.#printer.columns);
    const bar = amount?.total === undefined ? "" : `${barOf(amount.done, amount.total, width)} `;
    const count =
      done === undefined
        ? ""
        : `${inShort(done)}${total === undefined ? "" : `/${inShort(total)}`} `;
    const working = this.#isTask ? "working " : "";
    const used = widthOf(`   ${working}${count}`) + (bar === "" ? 0 : width + 1);
    const said = fitting(message, this.#printer.columns, used);
    this.#printer.live(`   ${style.dim(working)}${bar}${count}${said}`);
  }

  logged({ level, data, logger }: Extract<CallEvent, { type: "log" }>): void {
    const from = logger === undefined ? "" : ` ${plainLine(logger, 40)}:`;
    const said = plainLine(typeof data === "string" ? data : JSON.stringify(data));
    this.#printer.line(style.dim(`   ${level}${from} ${said}`));
  }

  done(isError: boolean): void {
    this.#printer.settle();
    this.#round(isError ? style.red("failed") : style.green("done"));
  }

  #round(what: string): void {
    const ms = this.#totals.round();
    this.#printer.line(`${circled(this.#totals.rounds)} ${duration(ms).padEnd(7)} ${what}`);
  }

  total(sign: string): void {
    this.#printer.settle();
    const { rounds, serverMs, humanMs, stateBytes, steps } = this.#totals.seen;
    const parts = [
      `${duration(serverMs + humanMs)} (server ${duration(serverMs)} ${signs.dot} you ${duration(humanMs)})`,
      counted(rounds, "round"),
      ...stateOf(stateBytes),
      ...(steps === undefined ? [] : [stepsOf(steps)]),
    ];
    this.#printer.line(`${sign} ${this.#folded(parts).join("\n  ")}`);
  }

  hints(parts: readonly string[]): void {
    for (const line of this.#folded(parts)) this.#printer.line(style.dim(`   ${line}`));
  }

  /** Puts as many parts on a line as fit. */
  #folded(parts: readonly string[]): readonly string[] {
    const lines: string[] = [];
    for (const part of parts) {
      const longer = `${lines.at(-1)} ${signs.dot} ${part}`;
      if (lines.length > 0 && widthOf(longer) + 3 < this.#printer.columns)
        lines.splice(-1, 1, longer);
      else lines.push(part);
    }
    return lines;
  }
}

function barOf(done: number, total: number, width: number): string {
  const share = total > 0 ? Math.min(Math.max(done / total, 0), 1) : 0;
  const full = Math.round(share * width);
  return style.cyan(signs.full.repeat(full)) + style.dim(signs.empty.repeat(width - full));
}

/** The status of a task is only text. Many servers write the progress in it: "3/10 files", "40 %". */
function amountIn(message: string): { readonly done: number; readonly total: number } | undefined {
  const [, done, total] = /\b(\d{1,9})\s?(?:\/|of)\s?(\d{1,9})\b/.exec(message) ?? [];
  if (done !== undefined && total !== undefined)
    return { done: Number(done), total: Number(total) };
  const [, percent] = /\b(\d{1,3})\s?%/.exec(message) ?? [];
  return percent === undefined ? undefined : { done: Number(percent), total: 100 };
}

const inShort = (value: number) => (Number.isInteger(value) ? `${value}` : value.toFixed(1));

function stateOf(bytes: TotalsSeen["stateBytes"]): string[] {
  if (bytes.length === 0) return [];
  const shown = bytes.length > 6 ? [...bytes.slice(0, 3), ...bytes.slice(-2)] : bytes;
  return [`state ${shown.map((one) => size(one)).join(` ${signs.arrow} `)}`];
}

function stepsOf({ ran, replayed }: Steps): string {
  const names = [...new Set([...replayed, ...ran])];
  return `steps ${someOf(names)} (ran ${ran.length}, replayed ${replayed.length})`;
}

/** The names of the steps, which a server in development sends with its result. */
export function stepsIn(result: unknown): Steps | undefined {
  const told = own(own(result, "_meta"), stepsKey);
  const ran = own(told, "ran");
  const replayed = own(told, "replayed");
  if (!isNames(ran) || !isNames(replayed) || ran.length + replayed.length === 0) return undefined;
  return { ran, replayed };
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === "string");
