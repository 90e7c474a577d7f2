/** Options of `drafts`. */
export declare interface DraftOptions {
    /**
     * For a server: the names of the tools that create a requested task later, when they call `ctx.background()`. Before
     * that they may ask in rounds, or return an ordinary result. Default: none, so a call that requests a task is a task
     * from the start.
     */
    readonly deferTasks?: readonly string[] | undefined;
}

/** The drafts of the protocol to speak besides its releases. Made by `drafts()` from `mcp-parley/drafts`. */
export declare interface Drafts {
    /** The protocol version of the draft, such as `"2026-06-XX"`. */
    readonly "~drafts": string;
}

/**
 * The draft of multi round-trip requests that came before 2026-07-28, protocol version `2026-06-XX`. Pass it to
 * `parley` or `connect` to speak the draft with peers that agree to it. Everything else stays the same.
 *
 * @example
 * ```ts
 * import { parley } from "mcp-parley";
 * import { drafts } from "mcp-parley/drafts";
 *
 * const app = parley({ name: "tracker", version: "1.0.0", drafts: drafts() });
 * ```
 */
export declare function drafts({ deferTasks }?: DraftOptions): Drafts;

export { }
