// Warnings about the address of a page that a server wants a person to open.

import type { UrlQuestion } from "../../client/index.ts";

/** The warnings to show with the address. */
export function urlWarnings({ url, isPunycode }: UrlQuestion): readonly string[] {
  const { username, password } = new URL(url);
  return [
    ...(isPunycode
      ? [
          "The host name contains letters that look like others. Check that it is the one you expect.",
        ]
      : []),
    ...(username + password === ""
      ? []
      : ["The part before the @ is a user name and password, not the host."]),
  ];
}
