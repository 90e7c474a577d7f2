// The addresses of sign-ins, below the public address of the app.

import type { Provider } from "../server/accounts/account.ts";
import { noUrl } from "../server/accounts/known-provider.ts";
import type { Core } from "../server/core.ts";

type Addressed = Pick<Core, "publicUrl">;

/** Where a person begins. */
export const startAddress = (core: Addressed, provider: Provider, ticket: string): string =>
  `${baseOf(core, provider)}/start/${ticket}`;

/** Where the provider sends people back to. It has to be registered there. */
export const callbackAddress = (core: Addressed, provider: Provider): string =>
  `${baseOf(core, provider)}/callback`;

/** Made from the public address alone, never from a header of a request. */
function baseOf({ publicUrl }: Addressed, { name }: Provider): string {
  const url = publicUrl();
  if (url === undefined) throw noUrl();
  return `${url.href.replace(/\/$/, "")}/oauth/${name}`;
}
