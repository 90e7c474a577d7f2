// The official servers that have the handlers of an app: those that the app makes for itself, and those of `app.attach`.

import type { McpServer } from "@modelcontextprotocol/server";
import { noStore } from "../tasks/store-needed.ts";
import type { Registry } from "../define/registry.ts";
import { adoptTool, Adoption } from "./adopt.ts";
import type { AttachOptions } from "./adopt.ts";
import { install } from "./install.ts";
import type { Installation, Serve } from "./install.ts";

/** What is installed on each server. */
interface Installed extends Pick<Installation, "core" | "derivePrincipal"> {
  readonly registrations: Registry;
}

/** Installs the handlers of one app on servers. */
export class Attachments {
  readonly #app: Installed;
  readonly #adoption: Adoption;
  /** Lets `attach` in `onServer` adopt tools without adding anything twice. */
  readonly #servers = new WeakMap<McpServer, Serve>();

  constructor(app: Installed) {
    this.#app = app;
    this.#adoption = new Adoption(app.core);
  }

  /** Installs the app's handlers on a server that serves it. */
  install(
    server: McpServer,
    way: Pick<Installation, "isAttached" | "isDraft" | "served"> = {},
  ): Serve {
    const serve = install(server, { ...this.#app, ...way });
    this.#servers.set(server, serve);
    return serve;
  }

  /** Installs them on a server of the author, and adopts its tools. */
  attach(server: McpServer, options: AttachOptions): void {
    if (server.isConnected()) {
      throw new TypeError(
        "Call app.attach before the server connects. A connected server has already announced what it offers.",
      );
    }
    const { core, registrations } = this.#app;
    const definitions = this.#adoption.of(server, options, registrations.tools());
    if (options.once === true && core.store === undefined) {
      throw noStore("app.attach(server, { once: true })");
    }
    const serve = this.#servers.get(server) ?? this.install(server, { isAttached: true });
    const { gates, logger } = core;
    for (const definition of definitions) {
      gates.check(definition);
      adoptTool(server, definition, serve(definition), () => gates.covers(definition));
    }
    if (gates.isEmpty) return;
    // Calls of such a tool do not come here, so nothing would be asked.
    for (const name of this.#adoption.others(server, registrations.tools())) {
      const gate = gates.matching(name);
      if (gate === undefined) continue;
      logger.warn(
        `Gate "${gate}" does not cover "${name}", which is a tool of the attached server. Add it to adopt: app.attach(server, { adopt: ["${name}"] }).`,
      );
    }
  }
}
