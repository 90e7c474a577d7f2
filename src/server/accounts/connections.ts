// `parley({ connections })`: the plug-in behind them.

import type { Core } from "../core.ts";
import type { Doorkeeping } from "../pages/visitors.ts";
import { isProvider } from "./account.ts";
import type { Accounts, Provider } from "./account.ts";

/** A provider as the app sees it. The first one makes the accounts for all of them. */
export interface PluggedProvider extends Provider {
  readonly "~accounts": (core: Core, door: Doorkeeping, providers: readonly Provider[]) => Accounts;
}

const isPlugged = (value: unknown): value is PluggedProvider => isProvider(value);

/** The accounts of an app. Undefined without connections. */
export function accountsOf(
  core: Core,
  door: Doorkeeping,
  connections: readonly Provider[] | undefined,
): Accounts | undefined {
  const [first] = connections ?? [];
  if (connections === undefined || first === undefined) return undefined;
  const names = new Set<string>();
  for (const one of connections) {
    if (!isPlugged(one)) {
      throw new TypeError(
        'parley({ connections }) takes a list of what oauth() returned: import { oauth } from "mcp-parley/oauth".',
      );
    }
    if (names.has(one.name)) {
      throw new TypeError(
        `parley({ connections }) has two providers named "${one.name}". Give each its own name.`,
      );
    }
    names.add(one.name);
  }
  return isPlugged(first) ? first["~accounts"](core, door, connections) : undefined;
}
