// Which Node the package runs on. A program on an older Node gets this message instead of an error about a missing
// export.

/** The message for a version of Node that is too old. Undefined in other runtimes, which have a version of their own. */
export function nodeProblem(version: string | undefined): string | undefined {
  if (version === undefined) return undefined;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNewEnough = major > 20 || (major === 20 && minor >= 19);
  return isNewEnough
    ? undefined
    : `mcp-parley needs Node.js 20.19 or newer, and this is ${version}. Install a newer one from https://nodejs.org.`;
}
