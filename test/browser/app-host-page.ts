// The page of a host, on the official AppBridge. The test bundles it and passes on what the bridge needs from the server.

import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { McpUiHostContext, McpUiStyles } from "@modelcontextprotocol/ext-apps/app-bridge";
import type { CallToolResult } from "@modelcontextprotocol/client";

/** How the host behaves. */
export interface Manners {
  readonly theme: "light" | "dark";
  /** Colours and fonts of the host, by the names of the specification. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** What it does with the App's calls of tools. Default: passes them on. */
  readonly calls?: "refuse" | "ignore" | undefined;
  /** Whether the App can tell the model something. Default: yes. */
  readonly isDeaf?: boolean | undefined;
}

/** What the test gives to the page, and what it reads from it. */
interface HostWindow {
  readonly callServer: (name: string, args: unknown) => Promise<CallToolResult>;
  readonly noteContext: (context: unknown) => Promise<void>;
  readonly noteSize: (height: number | undefined) => Promise<void>;
  showApp: (html: string, result: CallToolResult, manners: Manners) => Promise<void>;
  /** The host changes its colours while the App is shown. */
  dressApp: (manners: Manners) => void;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test has put them there
const page = window as unknown as HostWindow;

const contextOf = ({ theme, variables }: Manners): McpUiHostContext => ({
  theme,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- hosts name some of the variables
  ...(variables && { styles: { variables: variables as McpUiStyles } }),
});

page.showApp = async (html, result, manners) => {
  const frame = document.createElement("iframe");
  // Not even forms are allowed, as in the strictest hosts.
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.width = "100%";
  frame.style.border = "0";
  document.body.style.margin = "0";
  document.body.replaceChildren(frame);
  const app = frame.contentWindow;
  if (app === null) throw new Error("The frame has no window.");
  const { calls, isDeaf = false } = manners;
  const capabilities = { serverTools: {}, ...(!isDeaf && { updateModelContext: { text: {} } }) };
  const info = { name: "host", version: "1.0.0" };
  const bridge = new AppBridge(null, info, capabilities, {
    hostContext: contextOf(manners),
  });
  bridge.oncalltool = ({ name, arguments: args }) => {
    if (calls === "refuse") throw new Error("The user does not allow it.");
    return calls === "ignore" ? new Promise(() => {}) : page.callServer(name, args);
  };
  page.dressApp = (next) => bridge.setHostContext(contextOf(next));
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
