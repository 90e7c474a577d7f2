// URLs that others have written.

/** The URL in a text. Undefined if there is none. Most texts are URLs, so it is parsed once, and not checked before. */
export function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
