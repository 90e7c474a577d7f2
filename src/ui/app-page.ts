// The App as one document: the form components, their style and the script that talks to the host.

import { appScript } from "./app-script.ts";
import { page } from "./page.ts";
import { appStyle } from "./style.ts";

/** The document. Its title names the server, which the script shows as the one who asks. */
export const appPage = async (from: string): Promise<string> =>
  page(from, [], { css: appStyle, script: await appScript() });
