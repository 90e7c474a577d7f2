// What a Worker asks an object to do. Claims and everything under them are missing, because the object runs the tasks.

/** The operations of the store that a Worker may call, with those of its groups. */
export const operations = [
  "create",
  "read",
  "readByCall",
  "readLog",
  "readParts",
  "list",
  "revisions",
  "answer",
  "cancel",
  "requeue",
  "noteRead",
  "workers",
  "figures",
  "usage",
  "countEnded",
  "removeEnded",
  "spill",
  "spilled",
  "countSpilled",
  "fill",
  "filled",
  "claimRound",
  "renewRound",
  "appendToRound",
  "endRound",
  "releaseRound",
  "approvals.decide",
  "reader.find",
  "reader.waiting",
  "reader.log",
  "reader.runs",
  "accounts.read",
  "accounts.put",
  "accounts.claim",
  "accounts.renew",
  "accounts.release",
  "accounts.remove",
  "audit.tail",
  "audit.append",
  "audit.readChain",
  "audit.readAfter",
  "audit.sweep",
] as const;

/** One of them. */
export type OperationName = (typeof operations)[number];

/** What an operation has come to. An error of ours is a value here, because errors lose their code on the way. */
export type Answered =
  | { readonly value: unknown }
  | { readonly refused: { readonly code: string; readonly message: string } };
