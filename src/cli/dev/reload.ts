// Runs a server file, and runs it again when it, or a file that it imports, has changed.

import { basename, relative } from "node:path";
import process from "node:process";
import { connect } from "../../client/index.ts";
import { errorText } from "../../util/error-text.ts";
import type { Members } from "../../util/objects.ts";
import { plainText } from "../screen/plain.ts";
import { counted, duration } from "../screen/amounts.ts";
import { commandFor, consoleFor, loadingFirst } from "../server/server-file.ts";
import { ServerProcess } from "../server/process.ts";
import { signs, style } from "../screen/style.ts";
import { columnsHere, wrapped } from "../screen/printer.ts";
import { openPreview } from "./app-preview.ts";
import type { AppPreview } from "./app-preview.ts";
import { filesOf, Watched } from "./watch.ts";
import { usageHints } from "./usage-hints.ts";

/** What to run, and where to report. */
export interface ReloaderOptions {
  readonly file: string;
  /** Other files to watch, which are not imported by a relative path. */
  readonly others: readonly string[];
  /** The client that the hints call as. */
  readonly client?: string | undefined;
  /** The environment of the server. */
  readonly env: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
  /** Called if the file can never be served. */
  readonly fail: (error: unknown) => void;
}

/** Runs a server file until it is ended. */
export class Reloader {
  readonly #options: ReloaderOptions;
  readonly #name: string;
  readonly #watched: Watched;
  #server: ServerProcess | undefined;
  #work: Promise<void> = Promise.resolve();
  #url: string | undefined;
  #isOver = false;
  /** How many lines of code above an error are still to come. */
  #excerptLines = 0;
  /** The host of `--client app`, which stays open while the server restarts. */
  #preview: AppPreview | undefined;

  constructor(options: ReloaderOptions) {
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
    this.#preview?.close();
  };

  /** Runs one step after the other, because a file can be saved again while the server starts. */
  #then(work: () => Promise<void>): void {
    this.#work = this.#work
      .then(() => (this.#isOver ? undefined : work()))
      .catch(this.#options.fail);
  }

  readonly #onChange = (file: string): void => {
    const { say } = this.#options;
    say(style.dim(`${relative(process.cwd(), file)} changed, reloading`));
    const before = this.#server;
    // Ignore what the old process prints from now on.
    this.#server = undefined;
    this.#then(async () => {
      await before?.end();
      await this.#run();
    });
  };

  readonly #run = async (): Promise<void> => {
    const { file, others, env } = this.#options;
    this.#watched.set([...filesOf(file), ...others]);
    const startedAt = performance.now();
    const program = loadingFirst(commandFor(file), consoleFor(file));
    const server = new ServerProcess({ ...program, env }, (line, fields) =>
      this.#onLine(server, line, fields),
    );
    this.#server = server;
    const overPipes = connect(server.transport).then(
      async (connection) => {
        await connection.close();
        return "over pipes" as const;
      },
      // The server listens or has exited. Both are noticed below.
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
      const { client } = this.#options;
      const connection = await connect(url);
      const { tools } = await connection.sdk.listTools();
      this.#preview?.close();
      this.#preview = client === "app" ? await openPreview(url) : undefined;
      const preview = this.#preview?.url;
      say(`\n${usageHints({ url, server: connection.server.name, tools, client, preview })}`);
      await connection.close();
    } catch (error) {
      say(
        style.yellow(
          `${signs.warning} The server does not respond: ${plainText(errorText(error), 500)}`,
        ),
      );
    }
    const { length } = filesOf(this.#options.file);
    const others = length === 1 ? "" : ` and ${counted(length - 1, "import")}`;
    say(style.dim(`Watching ${this.#name}${others}. Calls survive a reload. Ctrl-C stops.\n`));
  };

  #onLine(server: ServerProcess, line: string, fields: Members): void {
    const { say } = this.#options;
    if (server !== this.#server || this.#isExcerpt(line) || isNoise(line)) return;
    const [, link] = /^parley info: console: (\S+)$/.exec(line) ?? [];
    // Not wrapped, so that a terminal can open it.
    if (link !== undefined) return say(`  console ${style.bold(link)}`);
    for (const part of wrapped(`  ${line}`, columnsHere())) say(style.dim(part));
    const notice = editNotice(fields);
    if (notice !== undefined) say(style.yellow(`${signs.warning} ${notice}`));
  }

  /** Above an error, Node shows the place that threw it, its code and a caret. Code of Node and of packages does not help. */
  #isExcerpt(line: string): boolean {
    if (isForeignPlace.test(line)) this.#excerptLines = 3;
    if (this.#excerptLines === 0) return false;
    this.#excerptLines -= 1;
    return true;
  }

  #onEnd(server: ServerProcess, how: string): void {
    if (server !== this.#server || this.#isOver) return;
    this.#server = undefined;
    this.#options.say(`${style.red(signs.failed)} ${this.#name} ${how}. Waiting for a change.`);
  }
}

/** Lines that repeat what is printed anyway, and stack frames of Node and of packages. */
const isNoise = (line: string) =>
  /^(parley info: (?:listening on|running tasks as) |at .*(node:|node_modules)|$)/.test(line);

const isForeignPlace = /^(node:\S+|\S*[\\/]node_modules[\\/]\S*):\d+$/;

const speaksOverPipes = (name: string) =>
  new Error(
    `${name} uses standard input and output (app.stdio()), so a client has to start it.\n` +
      `Call it with \`parley call ${name} <tool>\`, or serve HTTP with app.listen(3000).`,
  );

const editNotices: Readonly<Record<string, string>> = {
  history_changed:
    "Your edit changed what a call in progress has done. Start that call again. " +
    "When you deploy such a change, put it behind ctx.patched.",
  unstable_question: "A question of a call in progress changed twice. Start that call again.",
  changed: "Your edit changed a question of a call in progress, so it is asked again.",
};

/** What a line of the server's log means for a call that began before an edit. */
function editNotice({ code, hint }: Members): string | undefined {
  const topic = code ?? hint;
  return typeof topic === "string" && Object.hasOwn(editNotices, topic)
    ? editNotices[topic]
    : undefined;
}
