// What was thrown, in words.

/** Never throws, whatever the value does when it is read: a getter or a `toString` may throw itself. */
export function errorText(thrown: unknown): string {
  try {
    const hasMessage = typeof thrown === "object" && thrown !== null && "message" in thrown;
    return String(hasMessage ? thrown.message : thrown);
  } catch {
    return "Something was thrown that cannot be shown as text.";
  }
}
