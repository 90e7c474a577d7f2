// The pages of one app: where they are, who may visit them, and what serves them.

import type { Accounts, Provider } from "../accounts/account.ts";
import { accountsOf } from "../accounts/connections.ts";
import { noAuth, noUrl } from "../accounts/known-provider.ts";
import type { Core } from "../core.ts";
import type { Registration } from "../define/registry.ts";
import type { Site, SiteOptions } from "../http/routes.ts";
import type { WebHandler } from "../http/web-handler.ts";
import { announceConsole, checkConsole, siteOf } from "../node-only.ts";
import { noStore, noStoreFor } from "../tasks/store-needed.ts";
import { pagesOf } from "./serve-pages.ts";
import type { Pages } from "./serve-pages.ts";
import { checkDoor } from "./visitors.ts";
import type { Doorkeeping, PagesOptions } from "./visitors.ts";

/** The options of an app that its pages depend on. */
interface PageSettings {
  readonly url?: string | URL | undefined;
  readonly auth?: object | undefined;
  readonly pages?: PagesOptions | undefined;
  readonly connections?: readonly Provider[] | undefined;
}

export class AppPages {
  readonly #core: Core;
  readonly #url: URL | undefined;
  /** In development: where the app listens on this machine. */
  #local: URL | undefined;
  readonly #door: Doorkeeping;
  readonly #pages: Pages;
  /** Undefined without connections. */
  readonly accounts: Accounts | undefined;

  constructor(core: Core, { url, auth, pages, connections }: PageSettings) {
    this.#core = core;
    this.#url = url === undefined ? undefined : checkedUrl(String(url));
    const { isDevelopment } = core.environment;
    this.#door = { hasAuth: auth !== undefined, isDevelopment, authorize: pages?.authorize };
    this.#pages = pagesOf(core, this.#door);
    this.accounts = accountsOf(core, this.#door, connections);
  }

  get handler(): Pages["handler"] {
    return this.#pages.handler;
  }

  /** Whether the author has given the app a public address, or connections, which have pages. */
  get isWanted(): boolean {
    return this.#url !== undefined || this.accounts !== undefined;
  }

  /** Questions and answers are kept in the store, so without one there are no pages. */
  readonly publicUrl = (): URL | undefined =>
    this.#core.store === undefined ? undefined : (this.#url ?? this.#local);

  /** Whether questions can go by pages. */
  get isOpen(): boolean {
    return this.publicUrl() !== undefined;
  }

  /** Throws if pages, or one of these tools, need a store and there is none. */
  readonly checkStore = (registrations: Iterable<Registration>): void => {
    noStoreFor(registrations);
    const isMissing = this.isWanted && this.#core.store === undefined;
    if (!isMissing) return;
    throw noStore(
      this.accounts === undefined
        ? "parley({ url }), whose pages take answers,"
        : "parley({ connections })",
    );
  };

  /** Throws if strangers could answer for callers who are known. */
  readonly checkDoor = (): void => {
    if (this.isWanted) checkDoor(this.#door);
  };

  /** Throws if `app.listen` cannot serve the pages, or would give strangers the same account. */
  checkListening(isLocal: boolean): void {
    this.checkDoor();
    if (this.accounts === undefined) return;
    if (!this.#door.hasAuth) throw noAuth();
    const isHere = isLocal && this.#core.environment.isDevelopment;
    if (this.#url === undefined && !isHere) throw noUrl();
  }

  /** Throws if connections have no address to come back to. Whoever started this process is the only caller. */
  checkStdio(): void {
    if (this.accounts !== undefined && this.#url === undefined) throw noUrl();
    this.#door.isStdio = true;
  }

  /** What `app.listen` serves besides MCP. */
  site(options: SiteOptions, isLocal: boolean): { readonly at: Site; readonly hosts: string[] } {
    checkConsole(options.console, isLocal);
    const at = siteOf(options, this.#pages, this.#core.logger);
    return { at, hosts: this.#url === undefined ? [] : [this.#url.hostname] };
  }

  /** The app listens here. In development that is where the pages are, if the author says nothing else. */
  listensAt(url: string, isLocal: boolean, console?: WebHandler): void {
    announceConsole(console, url);
    if (isLocal && this.#core.environment.isDevelopment) this.#local ??= new URL("/", url);
    if (!this.isWanted || this.#door.authorize !== undefined) return;
    this.#core.logger.warn(
      "Anyone who has the link of a page can answer its question. Pass parley({ pages: { authorize } }) to say who visits.",
    );
  }
}

function checkedUrl(text: string): URL {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) {
    const { origin, pathname } = new URL(text);
    return new URL(pathname, origin);
  }
  throw new TypeError(
    `parley({ url: "${text}" }): pass the public address of this server, such as "https://tracker.example.com".`,
  );
}
