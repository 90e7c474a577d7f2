// The app as a process that is killed. It stops at the gates that HOLD names, says that it is there, and never goes on:
//   "second asked"    before the second call's question is recorded
//   "decided by cy"   after the store has cy's decision, and before that is recorded
//   "recorded bo"     after bo's decision is recorded, and before bo learns of it

import process from "node:process";
import type { Store } from "mcp-parley";
import type { TaskStore } from "mcp-parley/store";
import { payDesk, storeAt } from "./pay-desk.ts";

const { STORE = "", LEASE = "", HOLD = "" } = process.env;
const holds = HOLD.split(",");
const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Stops here for good, if this gate is named. */
async function reach(gate: string): Promise<void> {
  if (!holds.includes(gate)) return;
  say(gate);
  await new Promise<never>(() => {});
}

/** A store whose operations stop at the gates. */
function gated(real: TaskStore): TaskStore {
  const { audit, approvals } = real;
  if (audit === undefined || approvals === undefined) throw new Error("The store has no audit.");
  const chains = new Set<string>();
  let decider = "";
  const parts = {
    audit: {
      ...bound(audit),
      append: async (...args: Parameters<typeof audit.append>) => {
        const [chain] = args;
        chains.add(chain);
        if (chains.size > 1) await reach("second asked");
        const isAppended = await audit.append(...args);
        if (decider !== "") await reach(`recorded ${decider}`);
        return isAppended;
      },
    },
    approvals: {
      decide: async (...args: Parameters<typeof approvals.decide>) => {
        const result = await approvals.decide(...args);
        const [, , { who }] = args;
        await reach(`decided by ${who}`);
        decider = who;
        return result;
      },
    },
  };
  return new Proxy(real, {
    get: (target, name) => {
      if (name === "audit" || name === "approvals") return parts[name];
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

/** The methods of a part, which may be those of a class. */
function bound<T extends object>(part: T): T {
  const names = [...Object.keys(part), ...Object.getOwnPropertyNames(Object.getPrototypeOf(part))];
  const methods = names.flatMap((name) => {
    const member: unknown = Reflect.get(part, name);
    return typeof member === "function" && name !== "constructor"
      ? [[name, member.bind(part) as unknown] as const]
      : [];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every method of the part
  return Object.fromEntries(methods) as T;
}

const store = await storeAt(STORE, Number(LEASE));
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the stores of this library are both
const held = gated(store as unknown as TaskStore) as unknown as Store;
const app = payDesk(held, (order, ticket) => say(`ticket ${order} ${ticket}`));
await app.work();
const { url } = await app.listen(0);
say(`at ${new URL(url).origin}`);
