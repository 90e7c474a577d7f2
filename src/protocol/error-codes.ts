// Every JSON-RPC error code that Parley sends or looks for.

/** The request's body is not JSON, or could not be read. */
export const parseError = -32_700;

/** The server refuses a request over HTTP, such as one with too large a body. The status says why. */
export const serverError = -32_000;

/** The message is not a JSON-RPC request. */
export const invalidRequest = -32_600;

/** There is no such method, or a 2025-11-25 tool that runs only as a task was called without one. */
export const methodNotFound = -32_601;

/** Unknown tool, bad arguments, malformed answers, or a `requestState` that was refused. */
export const invalidParams = -32_602;

/** The handler or its configuration is at fault. The server's log has the details. */
export const internalError = -32_603;

/** 2025-11-25 over HTTP: the session has ended, or belongs to another process. */
export const sessionNotFound = -32_001;

/** 2025-11-25: there is no such resource. */
export const resourceNotFound = -32_002;

/** An HTTP header contradicts the request's body. */
export const headerMismatch = -32_020;

/** The handler needs something that this client has not declared. `data.requiredCapabilities` names it. */
export const missingClientCapability = -32_021;

/** The server does not speak the protocol version of the request. */
export const unsupportedVersion = -32_022;

/** 2025-11-25: the person has to open a page before the request can succeed. */
export const urlElicitationRequired = -32_042;
