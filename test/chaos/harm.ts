// What happens to the replicas: they are killed, stopped for a while or drained, at moments that come from the seed.

import type { Chance } from "./chance.ts";
import type { Replicas } from "./replicas.ts";

export interface HarmOptions {
  /** The average time from one fault to the next. */
  readonly gapMs: number;
  readonly leaseMs: number;
  /** The share of kills and of pauses. The rest are drains. */
  readonly kills: number;
  readonly pauses: number;
  /** The number of faults after which the replicas are left alone. */
  readonly most: number;
  /** Kills the server of the store and restarts it. Undefined: it stays up. */
  readonly outage: (() => Promise<void>) | undefined;
}

export interface Deeds {
  readonly kills: number;
  readonly pauses: number;
  /** The pauses that were longer than a lease. */
  readonly longPauses: number;
  readonly drains: number;
  readonly outages: number;
}

export class Harm {
  readonly #replicas: Replicas;
  readonly #chance: Chance;
  readonly #options: HarmOptions;
  #deeds: Deeds = { kills: 0, pauses: 0, longPauses: 0, drains: 0, outages: 0 };
  #done = 0;
  #isStopped = false;
  #outage: Promise<void> = Promise.resolve();
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(replicas: Replicas, chance: Chance, options: HarmOptions) {
    this.#replicas = replicas;
    this.#chance = chance;
    this.#options = options;
  }

  get deeds(): Deeds {
    return this.#deeds;
  }

  readonly start = (): void => {
    this.#goOn();
    this.#nextOutage();
  };

  #goOn(): void {
    const { gapMs, most } = this.#options;
    if (this.#done >= most) return;
    this.#done += 1;
    this.#after(gapMs * this.#chance.between(0.3, 1.7), () => {
      this.#act();
      this.#goOn();
    });
  }

  #nextOutage(): void {
    const { outage, gapMs } = this.#options;
    if (outage === undefined) return;
    this.#after(gapMs * this.#chance.between(5, 20), () => {
      this.#deeds = { ...this.#deeds, outages: this.#deeds.outages + 1 };
      this.#outage = outage().then(() => this.#nextOutage());
    });
  }

  /** Resolves when the store is up. */
  readonly stop = async (): Promise<void> => {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    await this.#outage;
  };

  #act(): void {
    this.#replicas.fill();
    const { kills, pauses } = this.#options;
    const draw = this.#chance.next();
    if (draw < kills) this.#kill();
    else if (draw < kills + pauses) this.#pause();
    else this.#drain();
  }

  /** Kills a replica, even a stopped one. */
  #kill(): void {
    const victim = this.#chance.pick(this.#replicas.present());
    if (victim === undefined) return;
    this.#deeds = { ...this.#deeds, kills: this.#deeds.kills + 1 };
    victim.kill();
    void victim.exited.then(() => {
      if (!this.#isStopped) this.#replicas.fill();
    });
  }

  #pause(): void {
    const { leaseMs } = this.#options;
    const isLong = this.#chance.isIt(0.75);
    const ms = isLong
      ? leaseMs + this.#chance.between(300, 1_500)
      : leaseMs * this.#chance.between(0.05, 0.95);
    const awake = this.#replicas.awake();
    const victim = this.#chance.pick(awake);
    // Another replica has to be there to take over.
    if (victim === undefined || awake.length < 2) return;
    const { pauses, longPauses } = this.#deeds;
    this.#deeds = {
      ...this.#deeds,
      pauses: pauses + 1,
      longPauses: longPauses + (isLong ? 1 : 0),
    };
    victim.pause();
    this.#after(ms, victim.resume);
  }

  #drain(): void {
    const awake = this.#replicas.awake();
    const victim = this.#chance.pick(awake);
    if (victim === undefined || awake.length < 2) return;
    this.#deeds = { ...this.#deeds, drains: this.#deeds.drains + 1 };
    victim.end();
    this.#replicas.fill();
  }

  #after(ms: number, act: () => void): void {
    if (this.#isStopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }
}
