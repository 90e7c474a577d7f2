// `ctx.connect` and `app.disconnect`, as far as they need no plug-in: what they say to a provider that the app does not have.

import { ParleyError } from "../../errors.ts";
import type { Operations } from "../../replay/operations.ts";
import type { Question } from "../../replay/promises.ts";
import { isProvider } from "./account.ts";
import type { Account, Accounts, ConnectFacts, ConnectOptions, Provider } from "./account.ts";

/** `ctx.connect`. */
export function connect(
  operations: Operations,
  facts: ConnectFacts,
  provider: Provider,
  options?: ConnectOptions,
): Question<Account> {
  const { accounts } = facts;
  if (known("ctx.connect", accounts, provider)) {
    return accounts.connect(operations, facts, provider, options);
  }
  const key = options?.key ?? provider.name;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is never settled
  return operations.refuse(key, unknownProvider("ctx.connect", provider)) as Question<Account>;
}

/** `app.disconnect`. */
export async function disconnect(
  accounts: Accounts | undefined,
  principal: string,
  provider: Provider,
): Promise<boolean> {
  if (known("app.disconnect", accounts, provider)) return accounts.disconnect(principal, provider);
  throw unknownProvider("app.disconnect", provider);
}

/** Throws a TypeError for what is not a provider. */
function known(
  verb: string,
  accounts: Accounts | undefined,
  provider: Provider,
): accounts is Accounts {
  if (isProvider(provider)) return accounts?.has(provider) === true;
  const before = verb === "app.disconnect" ? "principal, " : "";
  throw new TypeError(
    `${verb} takes what oauth() returned: ${verb}(${before}github), not ${verb}(${before}"github").`,
  );
}

const unknownProvider = (verb: string, { name }: Provider): ParleyError =>
  new ParleyError(
    "bad_option",
    `${verb}: "${name}" is not among the connections of this app. Add it: parley({ connections: [${name}] }).`,
  );

/** Callers who are not verified would all have the same account. */
export const noAuth = (): ParleyError =>
  new ParleyError(
    "no_auth",
    "parley({ connections }) without auth would give every caller the same account. Pass auth and principal, or serve the app over stdio.",
  );

/** There is no address to come back to. */
export const noUrl = (): ParleyError =>
  new ParleyError(
    "no_url",
    'parley({ connections }) needs the address that the provider sends people back to. Pass parley({ url: "https://…" }).',
  );
