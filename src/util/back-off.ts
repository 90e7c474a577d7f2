// How long to wait before trying again. Half of it is chance, so that replicas do not come back together.

export function backOff(
  tries: number,
  { firstMs, mostMs }: { readonly firstMs: number; readonly mostMs: number },
  chance: number = Math.random(),
): number {
  const full = Math.min(mostMs, firstMs * 2 ** Math.min(30, Math.max(0, tries - 1)));
  return full / 2 + (full / 2) * chance;
}
