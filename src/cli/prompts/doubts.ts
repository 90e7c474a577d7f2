// Why a person should look twice at a page's address.

import type { UrlQuestion } from "../../client/index.ts";

export function doubtsAbout({ url, isPunycode }: UrlQuestion): readonly string[] {
  const { username, password } = new URL(url);
  return [
    ...(isPunycode ? ["This name has letters that look like others. Is it the one you mean?"] : []),
    ...(username + password === ""
      ? []
      : ["What is before the @ is a name and password, and not where it leads."]),
  ];
}
