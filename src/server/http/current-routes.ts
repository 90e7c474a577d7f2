// The routes as they are now: handlers and configurations may be added while an app serves.

import type { McpServer } from "@modelcontextprotocol/server";
import type { Core } from "../core.ts";
import type { Registry } from "../define/registry.ts";
import { offersTasks } from "../sdk/install.ts";
import { Routes } from "./routes.ts";
import { takenOver } from "./overrides.ts";

export interface Sources {
  readonly core: Core;
  readonly registry: Registry;
  readonly configurations: readonly ((server: McpServer) => void)[];
  /** With all that is ours on it, and nothing of the author's. */
  readonly newServer: () => McpServer;
}

export class CurrentRoutes {
  readonly #sources: Sources;
  #handlers = -1;
  #configurations = -1;
  #hasStore = false;
  #routes: Routes | undefined;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** Undefined: no server can be made, which is for the SDK to say. */
  readonly get = (): Routes | undefined => {
    const { registry, configurations, core } = this.#sources;
    const hasStore = core.store !== undefined;
    const isCurrent =
      this.#handlers === registry.size &&
      this.#configurations === configurations.length &&
      this.#hasStore === hasStore;
    if (isCurrent) return this.#routes;
    this.#handlers = registry.size;
    this.#configurations = configurations.length;
    this.#hasStore = hasStore;
    this.#routes = this.#made();
    return this.#routes;
  };

  #made(): Routes | undefined {
    const { core, registry, configurations, newServer } = this.#sources;
    try {
      const server = newServer();
      const taken = takenOver(server, () => {
        for (const configure of configurations) configure(server);
      });
      return new Routes(registry, offersTasks(core, registry), taken);
    } catch {
      return undefined;
    }
  }
}
