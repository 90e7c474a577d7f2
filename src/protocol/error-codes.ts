// The JSON-RPC error codes we emit, and when.

/** Unknown tool, bad arguments, malformed answers, a requestState that was refused. */
export const invalidParams = -32602;
/** 2025-11-25: a tool that runs as a task only was called without one. */
export const methodNotFound = -32601;
/** The handler or the set-up is at fault; details are in the server's log. */
export const internalError = -32603;
/** The handler needs something this client has not declared; `data.requiredCapabilities` names it. */
export const missingClientCapability = -32021;
