// Whether the person who decides is named as callers are. If not, comparing the two would let everyone decide on their own
// request.

import { ParleyError } from "../../errors.ts";

/** Without `parley({ principal })`, callers are named by issuer and subject. */
const pair = /^(https?:\/\/\S+) \S/;

/** Why this cannot be a principal of the app that named the caller. Undefined if it can. */
export function whyNoPrincipal(caller: string | undefined, who: string): string | undefined {
  const [, issuer] = pair.exec(caller ?? "") ?? [];
  if (issuer === undefined || who.includes(" ") || who.startsWith("[")) return undefined;
  return `"${who}" cannot be a principal of this app, which names its callers by issuer and subject, such as "${issuer} ${who}". Use that text where the person decides: as principal from authorize, or as who for app.decide. Or name callers otherwise with parley({ principal }).`;
}

/** Throws ParleyError "no_principal" if this cannot be a principal. */
export function checkPerson(caller: string | undefined, who: string): void {
  const why = whyNoPrincipal(caller, who);
  if (why !== undefined) throw new ParleyError("no_principal", why);
}
