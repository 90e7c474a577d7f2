// The processes of the benchmark. They take requests over IPC, one after the other or many at once, and end with the process
// that started them, even by `kill -9`, because the channel closes then.

import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import process from "node:process";

let profiles: string | undefined;

/** From now on every process leaves a profile in this folder. */
export function profileInto(folder: string): void {
  profiles = folder;
}

const children = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});

interface Asked {
  readonly id: number;
  readonly what: string;
  readonly given: unknown;
}

interface Answered {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

export class Child {
  readonly name: string;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  readonly #gone: Promise<void>;
  #asked = 0;
  #isGone = false;

  constructor(name: string, file: string, args: readonly string[] = []) {
    this.name = name;
    const child = fork(file, args, {
      execArgv: [...profiling(name)],
      // As in production: most of the compared servers do extra checks in development.
      env: { ...process.env, NODE_ENV: "production" },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#process = child;
    children.add(child);
    child.on("message", (message) => this.#heard(message));
    child.on("error", () => {});
    this.#gone = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        children.delete(child);
        this.#isGone = true;
        for (const { reject } of this.#waiting.values()) reject(this.#ended(signal ?? code));
        this.#waiting.clear();
        resolve();
      });
    });
  }

  readonly ask = <T>(what: string, given?: unknown): Promise<T> =>
    new Promise((resolve, reject) => {
      if (this.#isGone) return reject(this.#ended("before it was asked"));
      const id = (this.#asked += 1);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both ends are in this folder
      this.#waiting.set(id, { resolve: (value) => resolve(value as T), reject });
      this.#process.send({ id, what, given } satisfies Asked);
    });

  readonly kill = (): Promise<void> => {
    this.#process.kill("SIGKILL");
    return this.#gone;
  };

  /** Without its channel the process ends by itself and writes its profile. A killed process would not. */
  readonly end = (): Promise<void> => {
    if (this.#process.connected) this.#process.disconnect();
    return this.#gone;
  };

  #heard(message: unknown): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `answering` sent it
    const { id, value, error } = message as Answered;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(`${this.name}: ${error}`));
  }

  #ended(how: number | string | null): Error {
    return new Error(`The process "${this.name}" has ended (${how}).`);
  }
}

/** The options of Node for a process of this name: none, unless profiles are wanted. */
export const profiling = (name: string): readonly string[] =>
  profiles === undefined
    ? []
    : [
        "--cpu-prof",
        `--cpu-prof-dir=${profiles}`,
        `--cpu-prof-name=${name.replaceAll(/\W+/g, "-")}-${performance.now().toFixed(0)}.cpuprofile`,
      ];

/** In the child: the requests that it serves. */
export function answering(
  // oxlint-disable-next-line typescript/no-explicit-any -- each handler knows its argument
  answers: Readonly<Record<string, (given: any) => unknown>>,
): void {
  process.on("disconnect", () => process.exit(1));
  process.on("message", (message) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `ask` sent it
    const { id, what, given } = message as Asked;
    const say = (answered: Omit<Answered, "id">) => process.send?.({ id, ...answered });
    Promise.resolve()
      .then(() => answers[what]?.(given))
      .then((value) => say({ value }))
      .catch((error: unknown) => say({ error: String(error) }));
  });
}
