// The page of a host, on the official AppBridge. The test bundles it and passes on what the bridge needs from the server.

import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { CallToolResult } from "@modelcontextprotocol/client";

/** What the test gives to the page, and what it reads from it. */
interface HostWindow {
  readonly callServer: (name: string, args: unknown) => Promise<CallToolResult>;
  readonly noteContext: (context: unknown) => Promise<void>;
  readonly noteSize: (height: number | undefined) => Promise<void>;
  showApp: (html: string, result: CallToolResult, theme: "light" | "dark") => Promise<void>;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test has put them there
const page = window as unknown as HostWindow;

page.showApp = async (html, result, theme) => {
  const frame = document.createElement("iframe");
  // Not even forms are allowed, as in the strictest hosts.
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.width = "100%";
  frame.style.border = "0";
  document.body.style.margin = "0";
  document.body.replaceChildren(frame);
  const app = frame.contentWindow;
  if (app === null) throw new Error("The frame has no window.");
  const capabilities = { serverTools: {}, updateModelContext: { text: {} } };
  const info = { name: "host", version: "1.0.0" };
  const bridge = new AppBridge(null, info, capabilities, { hostContext: { theme } });
  bridge.oncalltool = ({ name, arguments: args }) => page.callServer(name, args);
  bridge.onupdatemodelcontext = async (context) => {
    await page.noteContext(context);
    return {};
  };
  bridge.onsizechange = ({ height }) => {
    frame.style.height = `${height ?? 0}px`;
    void page.noteSize(height);
  };
  const ready = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  await bridge.connect(new PostMessageTransport(app, app));
  frame.srcdoc = html;
  await ready;
  await bridge.sendToolInput({ arguments: {} });
  await bridge.sendToolResult(result);
};
