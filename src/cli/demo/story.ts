// The story of the demo: a VM is ordered from two replicas that share a key and a file. The replica that creates it is
// killed, and the other one continues. Events are printed as they happen, and kept for the verdict.

import { EventEmitter, once } from "node:events";
import { connect } from "../../client/index.ts";
import { cloudRequests } from "./cloud.ts";
import { replicaName } from "./narrator.ts";
import type { Narrator, Person } from "./narrator.ts";
import { Replicas, roundRobin, sharedFiles } from "./replicas.ts";
import type { Deed } from "./replicas.ts";
import { playEpilogue } from "./epilogue.ts";
import type { Evidence } from "./verdict.ts";

/** What the story needs. */
export interface Setting {
  /** The path of a replica's program. */
  readonly replica: string;
  /** The folder with the files that the replicas share. */
  readonly folder: string;
  readonly narrator: Narrator;
  readonly person: Person;
}

/** How long the servers may take. The time of the person does not count. */
const patienceMs = 40_000;
/** How long the report of a replica may take after the response of its server. */
const reportMs = 2_000;

/** Plays the story once. */
export class Story {
  readonly #setting: Setting;
  readonly #replicas: Replicas;
  readonly #rounds: number[] = [];
  readonly #asked: string[] = [];
  readonly #deeds: Deed[] = [];
  /** Emits "deed" after each report of a replica. */
  readonly #arrivals = new EventEmitter();
  /** What to close at the end, last first. */
  readonly #endings: (() => unknown)[] = [];
  #killed: Evidence["killed"];
  #becameTask = false;
  #wasMissed = false;
  #wasRefused = false;
  #hasResult = false;
  /** Whether the story has a result, and another client has its turn. */
  #isOver = false;
  #requests: Evidence["requests"] = [];
  #hadPage = false;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#replicas = new Replicas(setting.replica, setting.folder, this.#onDeed);
    this.#endings.unshift(this.#replicas.end);
  }

  /** Plays it. Rejects if there is no result. */
  readonly play = async (signal: AbortSignal): Promise<void> => {
    const { narrator } = this.#setting;
    const urls = await this.#replicas.urls();
    const balancer = await roundRobin(urls, this.#onRequest);
    this.#endings.unshift(balancer.close);
    const server = await connect(balancer.url, { elicit: "events" });
    this.#endings.unshift(server.close);
    narrator.tell("you", 'call the tool provision_vm { name: "web-1", size: "large" }');
    const order = { name: "web-1", size: "large" };
    const call = server.start("provision_vm", order, { signal, timeoutMs: patienceMs });
    for await (const event of call) {
      if (event.type === "task") this.#onTask();
      if (event.type !== "asked") continue;
      for (const question of event.questions) {
        await call.answer(question.key, await this.#ask(question, signal));
      }
    }
    const { text } = await call.result();
    if (!this.#wasRefused) await this.#hasDone("configure", signal);
    narrator.tell("result", text);
    this.#hasResult = true;
    this.#requests = this.#requestsSoFar();
    if (this.#wasRefused) return;
    const replica = this.#killed?.replica === 1 ? 2 : 1;
    const survivor = { replica, url: urls[replica - 1] ?? "" };
    this.#isOver = true;
    this.#hadPage = await playEpilogue(survivor, narrator, signal);
  };

  #requestsSoFar(): Evidence["requests"] {
    return cloudRequests(sharedFiles(this.#setting.folder).cloudFile);
  }

  /** Whether the person declined, so that the rest did not happen. */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }

  /** Ends all processes and connections. */
  readonly end = async (): Promise<void> => {
    for (const ending of this.#endings.splice(0)) await ending();
  };

  readonly evidence = (): Evidence => ({
    rounds: this.#rounds,
    asked: this.#asked,
    becameTask: this.#becameTask,
    killed: this.#killed,
    deeds: this.#deeds,
    requests: this.#hasResult ? this.#requests : this.#requestsSoFar(),
    hasResult: this.#hasResult,
    hadPage: this.#hadPage,
  });

  readonly #onRequest = (index: number, method: string): void => {
    const replica = index + 1;
    const { tell } = this.#setting.narrator;
    if (method === "tools/call") {
      this.#rounds.push(replica);
      const isFirst = this.#rounds.length === 1;
      tell(
        replicaName(replica),
        isFirst ? "receives the call" : "receives your answer with the state, and continues",
      );
    }
    if (this.#killed?.replica === replica && !this.#wasMissed) {
      this.#wasMissed = true;
      tell("client", `replica ${replica} does not respond, so it tries the next one`);
    }
  };

  readonly #ask: Person = async (question, signal) => {
    const { narrator, person } = this.#setting;
    this.#asked.push(question.key);
    await this.#hasDone(this.#becameTask ? "create" : "price", signal);
    // A question in the background comes from the replica that runs the task.
    const [running] = this.#becameTask ? this.#deeds.slice(-1) : [];
    narrator.tell(
      replicaName(running?.replica ?? this.#rounds.at(-1) ?? 1),
      running
        ? "asks you from the background"
        : "asks you, and hands the state of the call to your client",
    );
    const answer = await person(question, signal);
    this.#wasRefused ||= !("action" in answer) || answer.action !== "accept";
    return answer;
  };

  readonly #onTask = (): void => {
    this.#becameTask = true;
    const name = replicaName(this.#rounds.at(-1) ?? 1);
    this.#setting.narrator.tell(name, "moves the call to the background, as a task");
    for (const deed of this.#deeds) if (deed.what === "create") this.#tellDeed(deed);
    this.#killIfCreating();
  };

  /**
   * Reports of the replicas and responses of their servers arrive by different ways, in any order. The story prints
   * them in the order of the tool's code.
   */
  readonly #onDeed = (deed: Deed): void => {
    // What the last client orders is another story.
    if (this.#isOver) return;
    this.#deeds.push(deed);
    this.#arrivals.emit("deed");
    if (deed.what === "create" && !this.#becameTask) return;
    this.#tellDeed(deed);
    this.#killIfCreating();
  };

  /** Resolves when a replica has reported it. The wait is short, because a broken replica may never report. */
  async #hasDone(what: Deed["what"], signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(reportMs)]);
    while (!limit.aborted && !this.#deeds.some((deed) => deed.what === what)) {
      await once(this.#arrivals, "deed", { signal: limit }).catch(() => {});
    }
  }

  readonly #tellDeed = (deed: Deed): void => {
    const isAgain = this.#killed !== undefined;
    const words = {
      price: "asks the cloud for the price",
      create: isAgain
        ? "takes over, and repeats the request with the same key"
        : "asks the cloud to create the VM, which takes 4 s",
      configure: "connects the VM to the network",
    };
    this.#setting.narrator.tell(replicaName(deed.replica), words[deed.what]);
  };

  /** Waits until the client knows the task, because it could not continue the call otherwise. */
  #killIfCreating(): void {
    const deed = this.#deeds.find(({ what }) => what === "create");
    if (deed === undefined || !this.#becameTask || this.#killed !== undefined) return;
    this.#killed = { replica: deed.replica, at: Date.now() };
    this.#replicas.kill(deed.replica);
    const name = replicaName(deed.replica);
    this.#setting.narrator.tell("kill -9", `${name} is killed before the cloud has responded`);
  }
}
