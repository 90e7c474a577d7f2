// Why a person should look twice at a page's address.

import type { Pending } from "../../client/index.ts";

export function doubtsAbout({
  url,
  isPunycode,
}: Extract<Pending, { kind: "url" }>): readonly string[] {
  const { username, password } = new URL(url);
  return [
    ...(isPunycode ? ["This name has letters that look like others. Is it the one you mean?"] : []),
    ...(username + password === ""
      ? []
      : ["What is before the @ is a name and password, and not where it leads."]),
  ];
}
