// The two halves of a command line: our own words, and a server's command after `--`.

export function halves(args: readonly string[]): {
  readonly own: readonly string[];
  readonly command: readonly string[];
} {
  const split = args.indexOf("--");
  if (split === -1) return { own: args, command: [] };
  return { own: args.slice(0, split), command: args.slice(split + 1) };
}
