// What the server's log says of a call that began before an edit, in words for the one who has edited.

const signs: readonly (readonly [RegExp, string])[] = [
  [
    /no longer does what it did earlier in this call|gives a different result for the same arguments/,
    "Your edit changed what a call in flight has done: start that call anew.",
  ],
  [
    /has changed twice in this call/,
    "A question of a call in flight changed twice: start that call anew.",
  ],
  [
    /has changed since it was asked/,
    "Your edit changed a question of a call in flight: it is asked again.",
  ],
];

export function editNotice(line: string): string | undefined {
  return signs.find(([sign]) => sign.test(line))?.[1];
}
