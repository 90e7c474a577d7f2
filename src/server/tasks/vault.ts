// The key ring as the task engine sees it.

import type { Sealer } from "../../tasks/sealing.ts";
import { openRecord, sealRecord } from "../../token/sealed-record.ts";
import type { Core } from "../core.ts";

/** What is sealed here is this server's alone: its name is part of every place. */
export function vaultOf(core: Core): Sealer {
  return {
    seal: (text, place) => sealRecord(text, `${core.name}/${place}`, core.keyring()),
    open: (sealed, place) => openRecord(sealed, `${core.name}/${place}`, core.keyring()),
  };
}
