// What stands behind the handles that `app.tool`, `app.prompt` and `app.resource` return. The test kit plays them.

import { Audit } from "../audit/audit.ts";
import type { Keyring } from "../../token/keyring.ts";
import { recentTokens } from "../../token/recent-tokens.ts";
import type { Core } from "../core.ts";
import type { Definition } from "./definition.ts";

interface Registered {
  readonly core: Core;
  readonly definition: Definition;
}

const registered = new WeakMap<object, Registered>();

/** Remembers the app and the definition behind a handle. Returns the handle. */
export function handleTo<H extends object>(handle: H, core: Core, definition: Definition): H {
  registered.set(handle, { core, definition });
  return handle;
}

/** The app behind a handle, and what is registered under it. */
export function registeredAs(handle: object): Registered {
  const found = registered.get(handle);
  if (found === undefined) {
    throw new TypeError("Pass a handle that app.tool(), app.prompt() or app.resource() returned.");
  }
  return found;
}

/** Another instance of the same app. It shares the definitions and what is passed in here, and nothing else. */
export function anotherInstance(
  core: Core,
  own: Pick<Core, "environment" | "logger"> &
    Partial<Pick<Core, "store" | "tasks" | "auditing">> & { readonly keyring: Keyring },
): Core {
  const trail = new Audit(() => instance);
  const instance: Core = {
    ...core,
    store: undefined,
    tasks: undefined,
    ...own,
    keyring: () => own.keyring,
    recentTokens: recentTokens(),
    audit: trail.record,
    trail,
  };
  return instance;
}
