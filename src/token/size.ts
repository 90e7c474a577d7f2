/** Of a token's text, and so of its bytes: it is ASCII. Far below what HTTP servers take as a body. */
export const defaultMaxBytes: number = 32 * 1024;

/** How much a token may hold once inflated. JSON deflates to between a third and a tenth. */
export function maxInflatedBytes(maxBytes: number): number {
  return 8 * maxBytes;
}
