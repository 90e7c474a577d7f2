// A store that counts the listeners to its hints, so that a test sees a subscription that was not ended.

import { MemoryStore } from "../../src/tasks/stores/memory.ts";

export class CountingStore extends MemoryStore {
  listeners = 0;
  /** How many times tasks were read. */
  reads = 0;
  /** How many tasks were being read at the same time, at most. */
  mostReadsAtOnce = 0;

  constructor(options?: ConstructorParameters<typeof MemoryStore>[0]) {
    super(options);
    const { subscribe, read } = this;
    let readsNow = 0;
    Object.assign(this, {
      subscribe: (listener: Parameters<typeof subscribe>[0]) => {
        this.listeners += 1;
        const end = subscribe(listener);
        return () => {
          this.listeners -= 1;
          end();
        };
      },
      read: async (id: string) => {
        this.reads += 1;
        readsNow += 1;
        this.mostReadsAtOnce = Math.max(this.mostReadsAtOnce, readsNow);
        try {
          // As with a database, other reads can begin meanwhile.
          await new Promise((resolve) => setImmediate(resolve));
          return await read(id);
        } finally {
          readsNow -= 1;
        }
      },
    });
  }
}
