// The hash of a text that is not secret. A browser computes the same one.

import { createHash } from "node:crypto";

/** SHA-256 in base64, as a Content-Security-Policy names it. */
export const textHash = (text: string): string =>
  createHash("sha256").update(text).digest("base64");
