// The protocol versions that Parley speaks.

/** Stateless: a server asks by responding with `input_required`, and the client retries with the answers. */
export const modernVersion = "2026-07-28";

/** Sessions: a server asks with a request of its own. */
export const legacyVersion = "2025-11-25";

/** The draft of multi round-trip requests, spoken only with the plug-in from `mcp-parley/drafts`. */
export const draftVersion = "2026-06-XX";

/** The protocol version that a call is made in. Written out, because this type is public and the constants are not. */
export type Era = "2026-07-28" | "2026-06-XX" | "2025-11-25";
