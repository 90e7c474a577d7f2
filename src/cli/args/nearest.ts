// "Did you mean": the known word nearest to one that is not known.

/** The end of a sentence, with its full stop. */
export function nearest(word: string, known: readonly string[]): string {
  const ranked = known
    .map((candidate) => ({ candidate, edits: distance(word, candidate) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [best] = ranked;
  const isNear = best !== undefined && best.edits <= Math.max(2, Math.floor(word.length / 3));
  return isNear ? `. Did you mean "${best.candidate}"?` : ".";
}

/** How many letters to add, drop, change or swap (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let edits = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) edits = Math.min(edits, (beforeLast[j - 2] ?? 0) + 1);
      row[j] = edits;
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
