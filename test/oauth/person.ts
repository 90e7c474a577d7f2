// A person with a browser that has no screen: it keeps cookies, follows redirects and fills in the form of the
// authorization server.

/** What a browser shows at last. */
export interface Shown {
  readonly url: string;
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Serves an address that is not on the network. Undefined leaves it to the network. */
export type Sites = (request: Request) => Promise<Response> | undefined;

export class Person {
  readonly name: string;
  readonly #sites: Sites;
  /** By host and name. */
  readonly cookies = new Map<string, Map<string, string>>();
  /** Every address that was visited, redirects included. */
  readonly visited: string[] = [];

  constructor(name: string, sites: Sites) {
    this.name = name;
    this.#sites = sites;
  }

  /** Opens an address. `until` stops before it follows a redirect that it accepts. */
  async open(
    url: string,
    { form, until }: { form?: Record<string, string>; until?: (url: string) => boolean } = {},
  ): Promise<Shown> {
    let at = url;
    let sent = form;
    for (let hops = 0; hops < 20; hops += 1) {
      const response = await this.#request(at, sent);
      const { status, headers } = response;
      const location = headers.get("location");
      const text = await response.text();
      if (status < 300 || status >= 400 || location === null)
        return { url: at, status, text, headers };
      const next = new URL(location, at).href;
      if (until?.(next) === true) return { url: next, status, text, headers };
      at = next;
      sent = undefined;
    }
    throw new Error(`Too many redirects: ${at}`);
  }

  /** Opens a start link, signs in at the provider, and comes back. */
  async signIn(
    link: string,
    {
      as = this.name,
      action = "allow",
      until,
    }: { as?: string; action?: string; until?: (url: string) => boolean } = {},
  ): Promise<Shown> {
    const shown = await this.open(link);
    if (!shown.url.includes("/interaction/")) return shown;
    return this.open(shown.url, { form: { login: as, action }, ...(until && { until }) });
  }

  async #request(url: string, form: Record<string, string> | undefined): Promise<Response> {
    this.visited.push(url);
    const { host } = new URL(url);
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const request = new Request(url, {
      redirect: "manual",
      headers: cookie === "" ? {} : { cookie },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    const response = await (this.#sites(request) ?? fetch(request));
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }
}
