// Serves clients that leave the task's id out of the header `Mcp-Name`, in an app with `lenientTaskRouting`.

import { own } from "../../util/objects.ts";

const methods = new Set<string | null>(["tasks/get", "tasks/update", "tasks/cancel"]);

/** The same request with the task's id in its headers. A header that is there stays, whether it is right or wrong. */
export function withTaskName(request: Request, body: unknown): Request {
  const { url, method, headers: sent, signal } = request;
  if (sent.has("mcp-name") || !methods.has(sent.get("mcp-method"))) return request;
  const taskId = own(own(body, "params"), "taskId");
  // No id of ours has other characters, and a header could not carry them as they are.
  if (typeof taskId !== "string" || !/^[!-~]+$/.test(taskId)) return request;
  const headers = new Headers(sent);
  headers.set("mcp-name", taskId);
  // The body has been read already, and is served as it was parsed.
  return new Request(url, { method, headers, signal });
}
