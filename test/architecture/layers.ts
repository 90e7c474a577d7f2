// The layers of src, from the bottom up: what each is for, and which layers it may import. ARCHITECTURE.md shows this
// table, and layers.test.ts checks the source against it.

export interface Layer {
  readonly holds: string;
  /** Besides its own files, src/errors.ts and packages. */
  readonly mayImport: readonly string[];
}

export const layers: Readonly<Record<string, Layer>> = {
  util: { holds: "JSON, timers, object guards, error texts, OpenTelemetry's API", mayImport: [] },
  protocol: {
    holds: "shapes of messages on the wire, and guards for incoming ones",
    mayImport: ["util"],
  },
  replay: {
    holds: "the engine: pure, without clock, I/O, crypto or MCP",
    mayImport: ["util"],
  },
  token: { holds: "sealed state, tickets and keys; all crypto", mayImport: ["util"] },
  draft: {
    holds: "the plug-in `mcp-parley/drafts`, which translates the draft protocol",
    mayImport: ["util", "protocol"],
  },
  tasks: {
    holds: "the durable engine: task records, workers, stores",
    mayImport: ["util", "replay"],
  },
  client: {
    holds: "calls that finish: rounds, tasks, resume, `withTasks`",
    mayImport: ["util", "protocol"],
  },
  ui: {
    holds: "forms as people see them: pages, and the App with its script",
    mayImport: ["util", "protocol"],
  },
  server: {
    holds: "from a request to a response; the author's API",
    mayImport: ["util", "protocol", "replay", "token", "tasks", "ui"],
  },
  oauth: {
    holds: "the plug-in `mcp-parley/oauth`: accounts of callers at other services",
    mayImport: ["util", "protocol", "replay", "token", "tasks", "ui", "server"],
  },
  "durable-object": {
    holds: "`mcp-parley/durable-object`: the SQLite store in Cloudflare's Durable Objects",
    mayImport: ["util", "token", "tasks", "server"],
  },
  testing: {
    holds: "`play`, `crashTest` and the store contract",
    mayImport: ["util", "protocol", "replay", "token", "tasks", "server"],
  },
  console: {
    holds: "what operators see in a browser: `mcp-parley/console`, its API and its page",
    mayImport: ["util", "protocol", "replay", "token", "tasks", "ui", "server"],
  },
  cli: {
    holds: "the command",
    mayImport: ["util", "protocol", "replay", "token", "tasks", "server", "client", "console"],
  },
};

/** As Markdown, for ARCHITECTURE.md. */
export function layerTable(): string {
  const rows = Object.entries(layers).map(([name, { holds, mayImport }]) => {
    const imports = mayImport.map((other) => `\`${other}\``).join(", ");
    return `| \`src/${name}\` | ${holds} | ${imports || "nothing"} |`;
  });
  return ["| layer | holds | may import |", "| --- | --- | --- |", ...rows, ""].join("\n");
}
