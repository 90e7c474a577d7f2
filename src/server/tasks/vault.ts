// The key ring as the task engine sees it.

import type { Vault } from "../../tasks/vault.ts";
import { openRecord, sealRecord } from "../../token/vault.ts";
import type { Core } from "../core.ts";

/** What is sealed here is this server's alone: its name is part of every place. */
export function vaultOf(core: Core): Vault {
  return {
    seal: (text, place) => sealRecord(text, `${core.name}/${place}`, core.keyring()),
    open: (sealed, place) => openRecord(sealed, `${core.name}/${place}`, core.keyring()),
  };
}
