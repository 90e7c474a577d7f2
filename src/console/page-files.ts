// The page's script and style, bundled and compressed. The package contains two files in place of the sources
// (scripts/build.ts), so only those who work on the source need esbuild.

import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { textHash } from "../token/text-hash.ts";
import { packedPage } from "./packed-page.ts";

/** A file of the page. */
export interface PageFile {
  /** Compressed with Brotli. */
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly plain: () => Promise<Uint8Array<ArrayBuffer>>;
  /** Changes with the file. */
  readonly tag: string;
}

const kept = new Map<"js" | "css", Promise<PageFile>>();

/** The script or the style. */
export function pageFiles(kind: "js" | "css"): Promise<PageFile> {
  const file = kept.get(kind) ?? load(kind);
  kept.set(kind, file);
  // The next request tries again.
  file.catch(() => kept.delete(kind));
  return file;
}

async function load(kind: "js" | "css"): Promise<PageFile> {
  const packed = new Uint8Array((await packedPage())[kind]);
  const unpack = promisify(brotliDecompress);
  return {
    packed,
    plain: async () => new Uint8Array(await unpack(packed)),
    tag: `"${textHash(Buffer.from(packed).toString("base64")).slice(0, 22)}"`,
  };
}
