// A server file that is being worked on: run, and run anew when it, or a file it imports, has another text.

import { basename, relative } from "node:path";
import process from "node:process";
import { connect } from "../../client/index.ts";
import { duration } from "../screen/amounts.ts";
import { commandFor } from "../server/file.ts";
import { ServerProcess } from "../server/process.ts";
import { signs, style } from "../screen/style.ts";
import { columnsHere } from "../screen/talk.ts";
import { wrapped } from "../screen/wrapped.ts";
import { editNotice } from "./changed-call.ts";
import { filesOf } from "./imports.ts";
import { invitation } from "./invitation.ts";
import { Watched } from "./watch.ts";

export interface SessionOptions {
  readonly file: string;
  /** Watched as well: what is not imported, or not by a relative path. */
  readonly others: readonly string[];
  readonly say: (line: string) => void;
  /** It can come to nothing. */
  readonly fail: (error: unknown) => void;
}

export class Session {
  readonly #options: SessionOptions;
  readonly #name: string;
  readonly #watched: Watched;
  #server: ServerProcess | undefined;
  #work: Promise<void> = Promise.resolve();
  #url: string | undefined;
  #isOver = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#name = basename(options.file);
    this.#watched = new Watched(this.#onChange);
  }

  readonly start = (): void => this.#then(this.#run);

  readonly end = async (): Promise<void> => {
    this.#isOver = true;
    this.#watched.close();
    await this.#server?.end();
    await this.#work;
  };

  /** One thing after the other: a file may be saved again while the server is still starting. */
  #then(work: () => Promise<void>): void {
    this.#work = this.#work
      .then(() => (this.#isOver ? undefined : work()))
      .catch(this.#options.fail);
  }

  readonly #onChange = (file: string): void => {
    const { say } = this.#options;
    say(style.dim(`${relative(process.cwd(), file)} has changed: reloading`));
    const before = this.#server;
    // What it says from here on is of no interest.
    this.#server = undefined;
    this.#then(async () => {
      await before?.end();
      await this.#run();
    });
  };

  readonly #run = async (): Promise<void> => {
    const { file, others } = this.#options;
    this.#watched.set([...filesOf(file), ...others]);
    const startedAt = performance.now();
    const command = commandFor(file);
    const env = { NODE_ENV: process.env["NODE_ENV"] ?? "development", ...command.env };
    const server = new ServerProcess({ ...command, env }, (line) => this.#onLine(server, line));
    this.#server = server;
    const overPipes = connect(server.transport).then(
      async (connection) => {
        await connection.close();
        return "over pipes" as const;
      },
      // It listens, or has ended: that is heard elsewhere.
      () => new Promise<never>(() => {}),
    );
    const ended = server.ended.then((how) => ({ how }));
    const first = await Promise.race([server.listening, overPipes, ended]);
    if (first === "over pipes") throw speaksOverPipes(this.#name);
    if (typeof first !== "string") return this.#onEnd(server, first.how);
    await server.transport.close();
    void ended.then(({ how }) => this.#onEnd(server, how));
    await this.#onListening(first, performance.now() - startedAt);
  };

  readonly #onListening = async (url: string, tookMs: number): Promise<void> => {
    const { say } = this.#options;
    say(
      `${style.green(signs.done)} ${this.#name} ${style.bold(url)} ${style.dim(duration(tookMs))}`,
    );
    if (url === this.#url) return;
    this.#url = url;
    try {
      const connection = await connect(url);
      const { tools } = await connection.sdk.listTools();
      say(`\n${invitation({ url, server: connection.server.name, tools })}`);
      await connection.close();
    } catch (error) {
      say(style.yellow(`${signs.warning} It does not answer: ${String(error)}`));
    }
    const { length } = filesOf(this.#options.file);
    const others = length === 1 ? "" : ` and ${length - 1} it imports`;
    say(style.dim(`Watching ${this.#name}${others}. Calls survive a reload. Ctrl-C ends.\n`));
  };

  #onLine(server: ServerProcess, line: string): void {
    const { say } = this.#options;
    if (server !== this.#server || isNoise(line)) return;
    const notice = editNotice(line);
    if (notice !== undefined) say(style.yellow(`${signs.warning} ${notice}`));
    for (const part of wrapped(`  ${line}`, columnsHere())) say(style.dim(part));
  }

  #onEnd(server: ServerProcess, how: string): void {
    if (server !== this.#server || this.#isOver) return;
    this.#server = undefined;
    this.#options.say(`${style.red(signs.failed)} ${this.#name} ${how}. Waiting for a change.`);
  }
}

/** What is said in other words already, and the inner life of Node and of packages. */
const isNoise = (line: string) =>
  /^(parley info: listening on |at .*(node:|node_modules)|$)/.test(line);

const speaksOverPipes = (name: string) =>
  new Error(
    `${name} speaks over standard input and output (app.stdio()), so its client starts it.\n` +
      `Call it with \`parley call ${name} <tool>\`, or let it listen: app.listen(3000).`,
  );
