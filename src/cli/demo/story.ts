// The story: a VM is ordered from two replicas that share a key and a file. The one that is creating it is killed in
// the middle, and the other goes on. It is told while it happens, and what is needed to judge it is kept.

import { connect } from "../../client/index.ts";
import { cloudRequests } from "./cloud.ts";
import { replicaName } from "./narrator.ts";
import type { Narrator } from "./narrator.ts";
import type { Person } from "./person.ts";
import { placeIn } from "./place.ts";
import { Replicas } from "./replicas.ts";
import type { Deed } from "./replicas.ts";
import { roundRobin } from "./round-robin.ts";
import type { Evidence } from "./verdict.ts";

export interface Setting {
  /** Of a replica's program. */
  readonly replica: string;
  /** What the replicas share is in there. */
  readonly folder: string;
  readonly narrator: Narrator;
  readonly person: Person;
}

/** Of the servers alone: people may think. */
const patienceMs = 40_000;

export class Story {
  readonly #setting: Setting;
  readonly #replicas: Replicas;
  readonly #rounds: number[] = [];
  readonly #asked: string[] = [];
  readonly #deeds: Deed[] = [];
  /** The last first. */
  readonly #endings: (() => unknown)[] = [];
  #killed: Evidence["killed"];
  #becameTask = false;
  #wasMissed = false;
  #wasRefused = false;
  #hasResult = false;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.#replicas = new Replicas(setting.replica, setting.folder, this.#onDeed);
    this.#endings.unshift(this.#replicas.end);
  }

  /** Rejects where it comes to no result. */
  readonly play = async (signal: AbortSignal): Promise<void> => {
    const { narrator } = this.#setting;
    const balancer = await roundRobin(await this.#replicas.urls(), this.#onRequest);
    this.#endings.unshift(balancer.close);
    const server = await connect(balancer.url, { elicit: "events" });
    this.#endings.unshift(server.close);
    narrator.tell("you", 'call provision_vm { name: "web-1", size: "large" }');
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
    narrator.tell("result", text);
    this.#hasResult = true;
  };

  /** The person has said no to something, so that the rest did not happen. */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }

  /** Processes, connections and files: nothing stays. */
  readonly end = async (): Promise<void> => {
    for (const ending of this.#endings.splice(0)) await ending();
  };

  readonly evidence = (): Evidence => ({
    rounds: this.#rounds,
    asked: this.#asked,
    becameTask: this.#becameTask,
    killed: this.#killed,
    deeds: this.#deeds,
    requests: cloudRequests(placeIn(this.#setting.folder).cloudFile),
    hasResult: this.#hasResult,
  });

  readonly #onRequest = (index: number, method: string): void => {
    const replica = index + 1;
    const { tell } = this.#setting.narrator;
    if (method === "tools/call") {
      this.#rounds.push(replica);
      const isFirst = this.#rounds.length === 1;
      tell(
        replicaName(replica),
        isFirst ? "gets the call" : "gets your answer and that state, and goes on",
      );
    }
    if (this.#killed?.replica === replica && !this.#wasMissed) {
      this.#wasMissed = true;
      tell("client", `replica ${replica} does not answer, so it asks the next one`);
    }
  };

  readonly #ask: Person = async (question, signal) => {
    const { narrator, person } = this.#setting;
    this.#asked.push(question.key);
    // A task's question is put by whoever runs it.
    const [running] = this.#becameTask ? this.#deeds.slice(-1) : [];
    narrator.tell(
      replicaName(running?.replica ?? this.#rounds.at(-1) ?? 1),
      running ? "asks from the background" : "asks, and forgets: the sealed state is with you",
    );
    const answer = await person(question, signal);
    this.#wasRefused ||= !("action" in answer) || answer.action !== "accept";
    return answer;
  };

  readonly #onTask = (): void => {
    this.#becameTask = true;
    const name = replicaName(this.#rounds.at(-1) ?? 1);
    this.#setting.narrator.tell(name, "makes it a task: from here on nobody waits for it");
    this.#killIfCreating();
  };

  readonly #onDeed = (deed: Deed): void => {
    this.#deeds.push(deed);
    const isAgain = this.#killed !== undefined;
    const words = {
      price: "asks the cloud for the price",
      create: isAgain
        ? "takes over, and asks for the VM under the same key"
        : "asks the cloud for the VM, which takes a while",
      configure: "puts the VM into its network",
    };
    this.#setting.narrator.tell(replicaName(deed.replica), words[deed.what]);
    this.#killIfCreating();
  };

  /** Not before the client has heard of the task: nobody could go on with it. */
  #killIfCreating(): void {
    const deed = this.#deeds.find(({ what }) => what === "create");
    if (deed === undefined || !this.#becameTask || this.#killed !== undefined) return;
    this.#killed = { replica: deed.replica, at: Date.now() };
    this.#replicas.kill(deed.replica);
    const name = replicaName(deed.replica);
    this.#setting.narrator.tell("kill -9", `${name} is gone before the cloud has answered`);
  }
}
