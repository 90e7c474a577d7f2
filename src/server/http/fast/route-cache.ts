// Keeps the route table up to date: handlers, configurations and the store may be added while an app serves.

import type { McpServer } from "@modelcontextprotocol/server";
import type { Core } from "../../core.ts";
import type { Registry } from "../../define/registry.ts";
import { offersTasks } from "../../sdk/install.ts";
import { overridesOf } from "./author-overrides.ts";
import { RouteTable } from "./route-table.ts";

/** What the table is made from. */
export interface RouteSources {
  readonly core: Core;
  readonly registry: Registry;
  readonly configurations: readonly ((server: McpServer) => void)[];
  /** Makes an official server with this app's handlers, before the author's configurations. */
  readonly newServer: () => McpServer;
}

/** The route table, made again when its sources have changed. */
export class RouteCache {
  readonly #sources: RouteSources;
  #handlers = -1;
  #configurations = -1;
  #hasStore = false;
  #table: RouteTable | undefined;

  constructor(sources: RouteSources) {
    this.#sources = sources;
  }

  /** Undefined if no server can be made. The SDK then reports the error. */
  readonly get = (): RouteTable | undefined => {
    const { registry, configurations, core } = this.#sources;
    const hasStore = core.store !== undefined;
    const isCurrent =
      this.#handlers === registry.size &&
      this.#configurations === configurations.length &&
      this.#hasStore === hasStore;
    if (isCurrent) return this.#table;
    this.#handlers = registry.size;
    this.#configurations = configurations.length;
    this.#hasStore = hasStore;
    this.#table = this.#make();
    return this.#table;
  };

  #make(): RouteTable | undefined {
    const { core, registry, configurations, newServer } = this.#sources;
    try {
      const server = newServer();
      const overrides = overridesOf(server, () => {
        for (const configure of configurations) configure(server);
      });
      return new RouteTable(registry, offersTasks(core, registry), overrides);
    } catch {
      return undefined;
    }
  }
}
