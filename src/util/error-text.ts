// Describes anything that was thrown.

/** The message of what was thrown. It never throws itself, even if a getter or `toString` of the value does. */
export function errorText(thrown: unknown): string {
  try {
    const hasMessage = typeof thrown === "object" && thrown !== null && "message" in thrown;
    return String(hasMessage ? thrown.message : thrown);
  } catch {
    return "Something was thrown that cannot be shown as text.";
  }
}
