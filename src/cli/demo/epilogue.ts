// The end of the demo: a client that cannot be asked calls the same tool. Its model is told to pass on the address of a page,
// where the person answers.

import { connect } from "../../client/index.ts";
import { pauseMeta } from "../../protocol/paused-call.ts";
import { errorText } from "../../util/error-text.ts";
import { own } from "../../util/objects.ts";
import { plainText } from "../screen/plain.ts";
import { replicaName } from "./narrator.ts";
import type { Narrator } from "./narrator.ts";

/** A replica that runs. */
export interface Survivor {
  readonly url: string;
  readonly replica: number;
}

/** Plays it. False if there was no page, or if the answer did not come back. */
export async function playEpilogue(
  { url, replica }: Survivor,
  { tell }: Narrator,
  signal: AbortSignal,
): Promise<boolean> {
  tell("client", "another one, which cannot be asked, orders web-2");
  const server = await connect(url, { tasks: false });
  try {
    const order = { name: "provision_vm", arguments: { name: "web-2", size: "small" } };
    const pause = own(own(await server.sdk.callTool(order, { signal }), "_meta"), pauseMeta);
    const question = own(own(own(pause, "questions"), "buy"), "request");
    const page = own(own(question, "params"), "url");
    if (typeof page !== "string") return false;
    tell(replicaName(replica), "gives its model the address of a page, for you");
    tell("visitor", "opens the page, and answers no");
    await declineOn(page, signal);
    tell("client", "its model calls continue_call");
    const rest = { name: "continue_call", arguments: { call: own(pause, "call") } };
    const { content } = await server.sdk.callTool(rest, { signal });
    const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
    tell("result", text);
    return text === "No VM was created.";
  } catch (error) {
    tell("result", `none: ${plainText(errorText(error), 200)}`);
    return false;
  } finally {
    await server.close();
  }
}

/** What a browser sends when someone presses the button. */
async function declineOn(page: string, signal: AbortSignal): Promise<void> {
  const headers = { origin: new URL(page).origin };
  const body = new URLSearchParams({ action: "decline" });
  await fetch(page, { method: "POST", headers, body, signal });
}
