// Ways to change an ordinary request: odd but valid, broken, hostile.

import { inBase64 } from "./requests.ts";
import type { Draft } from "./requests.ts";

export interface Mutation {
  readonly name: string;
  readonly apply: (draft: Draft) => void;
}

const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";
const clientInfo = "io.modelcontextprotocol/clientInfo";
const logLevel = "io.modelcontextprotocol/logLevel";

const mutation = (name: string, apply: Mutation["apply"]): Mutation => ({ name, apply });

/** Sets a header, sets several of the same name, or removes it. */
const header = (name: string, ...values: readonly string[]): Mutation =>
  mutation(`header ${name}: ${values.join(" | ") || "(none)"}`, (draft) => {
    draft.headers = draft.headers.filter(([other]) => other !== name);
    for (const value of values) draft.headers.push([name, value]);
  });

/** Sets or removes a member of the message. */
const member = (path: string, ...value: readonly unknown[]): Mutation =>
  mutation(`${path} = ${short(value)}`, ({ message }) => {
    const names = path.split(".");
    const last = names.pop() ?? "";
    let at = message;
    for (const name of names) at = at?.[name];
    if (typeof at !== "object" || at === null) return;
    if (value.length === 0) delete at[last];
    else
      Object.defineProperty(at, last, {
        value: value[0],
        enumerable: true,
        configurable: true,
        writable: true,
      });
  });

const meta = (name: string, ...value: readonly unknown[]): Mutation =>
  mutation(`_meta ${name} = ${short(value)}`, ({ message }) => {
    const at = message?.params?._meta;
    if (typeof at !== "object" || at === null) return;
    if (value.length === 0) delete at[name];
    else
      Object.defineProperty(at, name, {
        value: value[0],
        enumerable: true,
        configurable: true,
        writable: true,
      });
  });

const short = ([value]: readonly unknown[]) => JSON.stringify(value)?.slice(0, 60) ?? "(none)";

/** Replaces the body with one that is made from the valid body. */
const body = (name: string, make: (text: string) => string | Buffer): Mutation =>
  mutation(`body ${name}`, (draft) => {
    draft.body = make(JSON.stringify(draft.message));
  });

const subject = ({ message }: Draft): string =>
  String(message?.params?.name ?? message?.params?.uri ?? message?.params?.taskId ?? "");

const named = (name: string, make: (subject: string) => string): Mutation =>
  mutation(`mcp-name ${name}`, (draft) => {
    draft.headers = draft.headers.filter(([other]) => other !== "mcp-name");
    draft.headers.push(["mcp-name", make(subject(draft))]);
  });

/** Changes the message and its headers alike. */
const renamed = (name: string): Mutation =>
  mutation(`renamed ${JSON.stringify(name)}`, (draft) => {
    const params = draft.message?.params;
    if (typeof params !== "object" || params === null) return;
    const about = ["name", "uri", "taskId"].find((one) => one in params);
    if (about !== undefined) params[about] = name;
    draft.headers = draft.headers.filter(([other]) => other !== "mcp-name");
    draft.headers.push(["mcp-name", inBase64(name)]);
  });

const method = (name: string): Mutation =>
  mutation(`method ${name}`, (draft) => {
    if (typeof draft.message === "object") draft.message.method = name;
    draft.headers = draft.headers.map(([one, value]) => [one, one === "mcp-method" ? name : value]);
  });

const deep = (levels: number): unknown =>
  JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

const deepList = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;

/** Wraps the body in text before and after it. */
const deepPlaces = [
  ["arguments", '"arguments":{"text":"a","x":', "}"],
  ["an answer", '"inputResponses":{"name":{"action":"accept","content":{"name":', "}}}"],
  ["a member of nobody's", '"x":', ""],
] as const;

const http: readonly Mutation[] = [
  ...["GET", "PUT", "DELETE", "OPTIONS", "PATCH"].map((verb) =>
    mutation(verb, (draft) => void (draft.verb = verb)),
  ),
  ...[
    "/mcp?a=1",
    "/mcp/",
    "/MCP",
    "/x/../mcp",
    "//mcp",
    "/mcp#a",
    "http://127.0.0.1/mcp",
    "*",
    "/healthz",
  ].map((target) => mutation(`target ${target}`, (draft) => void (draft.target = target))),
  mutation("the whole URL, with a port", (draft) => {
    draft.target = "http://127.0.0.1:80/mcp";
    draft.headers = draft.headers.map(([name, value]) => [
      name,
      name === "host" ? "127.0.0.1:80" : value,
    ]);
  }),
  mutation("HTTP/1.0", (draft) => void (draft.version = "1.0")),
  ...[1, 7, 1_000].map((bytes) =>
    mutation(`in chunks of ${bytes}`, (draft) => void (draft.chunkBytes = bytes)),
  ),
  header("host"),
  header("host", "evil.example"),
  header("host", "localhost:1"),
  header("host", "LOCALHOST"),
  header("host", "ada:secret@127.0.0.1"),
  header("host", "@127.0.0.1"),
  header("host", "127.0.0.1/x?y#z"),
  header("host", "127.0.0.1:99999"),
  header("host", "127.0.0.1", "evil.example"),
  header("origin", "http://localhost:5173"),
  header("origin", "https://evil.example"),
  header("origin", "null"),
  header("origin", "http://localhost", "https://evil.example"),
  header("authorization", "Bearer whatever"),
  header("authorization", "Bearer whatever", "Bearer another"),
  header("mcp-session-id", "0b6c"),
  header("mcp-param-region", "north"),
  header("mcp-param-region", "south"),
  header("expect", "100-continue"),
  header("upgrade", "websocket"),
  header("content-encoding", "gzip"),
  header("content-length", "999999999"),
  header("content-length", "5", "6"),
  header("content-length", "+5"),
  header("transfer-encoding", "chunked"),
  header("transfer-encoding", "chunked, identity"),
  header("x-folded", "over\r\n lines"),
  header("x-large", "x".repeat(20_000)),
  header("cookie", "a=1", "b=2"),
];

/** Bytes that Node's parser reads as one request, and another server as two. */
const smuggled: readonly Mutation[] = [
  ["content-length", "0"],
  ["transfer-encoding", "xchunked"],
  ["transfer-encoding", "identity"],
].map(([name = "", value = ""]) =>
  mutation(`in chunks, and ${name}: ${value}`, (draft) => {
    draft.chunkBytes = 7;
    draft.headers.push(["transfer-encoding", "chunked"], [name, value]);
  }),
);

const contentTypes: readonly Mutation[] = [
  [],
  ["application/json; charset=utf-8"],
  ["APPLICATION/JSON"],
  ["application/json;"],
  ["application/json; charset="],
  ["application/json; charset=utf-16"],
  ["application/json, text/plain"],
  ["application/json", "text/plain"],
  ["text/plain"],
  ["text/plain; a=application/json"],
  ["application/jsonp"],
  [""],
].map((values) => header("content-type", ...values));

const standardHeaders: readonly Mutation[] = [
  header("accept"),
  header("accept", "text/html"),
  header("accept", "application/json"),
  header("accept", "text/event-stream"),
  ...[
    [],
    ["2025-11-25"],
    ["2026-07-29"],
    ["2026-07-28 "],
    ["  2026-07-28"],
    ["2026-07-28", "2026-07-28"],
    ["x"],
    [""],
  ].map((values) => header("mcp-protocol-version", ...values)),
  ...[
    [],
    ["tools/list"],
    ["Tools/Call"],
    ["tools/call\t"],
    ["subscriptions/listen"],
    ["initialize"],
    [""],
  ].map((values) => header("mcp-method", ...values)),
  header("mcp-name"),
  header("mcp-name", "another"),
  header("mcp-name", "echo", "echo"),
  header("mcp-name", ""),
  named("in Base64", inBase64),
  named("in Base64 without padding", (name) => inBase64(name).replace(/=+\?=$/, "?=")),
  named("in Base64 with loose bits", (name) => inBase64(`${name}a`).replace(/.\?=$/, "/?=")),
  named("in shouted Base64", (name) => inBase64(name).replace("base64", "BASE64")),
  named("in Base64 that is none", () => "=?base64?***?="),
  named("in Base64 that is not UTF-8", () => "=?base64?/w==?="),
  named("padded", (name) => `  ${name}\t`),
  named("shouted", (name) => name.toUpperCase()),
  mutation("renamed é, as one byte", (draft) => {
    renamed("é").apply(draft);
    named("as it is", (name) => name).apply(draft);
  }),
  ...[
    "",
    "__proto__",
    "constructor",
    "toString",
    "ünï",
    " echo",
    "page://\ud800",
    "=?base64?ZWNobw==?=",
    "nobody",
    "x".repeat(3_000),
  ].map(renamed),
];

const bodies: readonly Mutation[] = [
  body("empty", () => " "),
  body("cut", (text) => text.slice(0, -1)),
  body("trailed", (text) => `${text}x`),
  body("padded", (text) => ` \n${text}\r\n `),
  body("with BOM", (text) => `\uFEFF${text}`),
  body("in UTF-16", (text) => Buffer.from(text, "utf16le")),
  body("with a byte that is no UTF-8", (text) =>
    Buffer.concat([
      Buffer.from(text.slice(0, -3)),
      Buffer.from([0xff]),
      Buffer.from(text.slice(-3)),
    ]),
  ),
  body("with a broken character in a text", (text) =>
    Buffer.concat([
      Buffer.from(text.slice(0, -1)),
      Buffer.from(',"x":"'),
      Buffer.from([0xe2, 0x82]),
      Buffer.from('"}'),
    ]),
  ),
  body("as a batch", (text) => `[${text}]`),
  body("as a batch of two", (text) => `[${text},${text}]`),
  body("as an empty batch", () => "[]"),
  ...["null", "1", '"text"', "true", "{}"].map((text) => body(text, () => text)),
  body("with a member twice", (text) => `{"method":"tools/list",${text.slice(1)}`),
  body("with its method again", (text) => `${text.slice(0, -1)},"method":"tools/list"}`),
  body("with __proto__", (text) => `{"__proto__":{"x":1},${text.slice(1)}`),
  body("as a response", () => '{"jsonrpc":"2.0","id":1,"result":{}}'),
  body("as an error", () => '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}'),
  ...["-0", "1e400", "1E2", "1.0", "9007199254740993", '"\\ud800"'].map((id) =>
    body(`with the id ${id}`, (text) => text.replace('"id":1', `"id":${id}`)),
  ),
  ...["1e400", "-1e400", "123456789012345678901234567890"].map((number) =>
    body(`with the argument ${number}`, (text) =>
      text.replace('"params":{', `"params":{"arguments":{"text":"a","times":${number}},`),
    ),
  ),
  ...deepPlaces.map(([place, before, after]) =>
    body(`100 000 levels deep in ${place}`, (text) =>
      text.replace('"params":{', `"params":{${before}${deepList}${after},`),
    ),
  ),
  body("with a lone surrogate in its arguments", (text) =>
    text.replace('"params":{', '"params":{"arguments":{"text":"\\ud800"},'),
  ),
  body("with __proto__ deep in its arguments", (text) =>
    text.replace('"params":{', '"params":{"arguments":{"text":"a","x":{"__proto__":{"y":1}}},'),
  ),
  body("with __proto__ in an answer", (text) =>
    text.replace(
      '"params":{',
      '"params":{"inputResponses":{"name":{"__proto__":{"method":"x"},"action":"accept"}},',
    ),
  ),
  body("with __proto__ in a capability", (text) =>
    text.replace('"form":{}', '"form":{"__proto__":{}}'),
  ),
  body("with its parameters twice", (text) => `${text.slice(0, -1)},"params":{"name":"bare"}}`),
  body("nested in itself", (text) => `{"a":${text}}`),
];

const shape: readonly Mutation[] = [
  ...["text", "", 0, -0, -5, 1.5, 1e300, 2 ** 53, null, true, [], {}].map((id) => member("id", id)),
  member("id"),
  ...["1.0", "2", 2, null].map((jsonrpc) => member("jsonrpc", jsonrpc)),
  member("jsonrpc"),
  ...[
    "tools/list",
    "prompts/list",
    "server/discover",
    "ping",
    "initialize",
    "completion/complete",
    "nothing/at/all",
    "__proto__",
    "notifications/cancelled",
    "tasks/list",
    "tasks/result",
  ].map(method),
  member("method", 5),
  member("extra", 1),
  member("result", {}),
  member("params"),
  ...[null, [], "x", 5].map((params) => member("params", params)),
  member("params._meta"),
  ...[null, [], "x", {}].map((value) => member("params._meta", value)),
  member("params.extra", { any: "thing" }),
  member("params.task", { ttl: 1_000 }),
  member("params.task", 5),
  member("params.__proto__", { x: 1 }),
  member("params.name", 5),
  member("params.name"),
  member("params.uri", 5),
  member("params.uri", "no uri"),
  member("params.taskId", 5),
  ...[
    null,
    [],
    "x",
    5,
    {},
    { text: 5 },
    { text: "a", times: 10 },
    { text: "a", times: 1e300 },
    { more: "than" },
    { a: "1" },
    deep(200),
  ].map((args) => member("params.arguments", args)),
  member("params.arguments"),
  body("with __proto__ in its arguments", (text) =>
    text.replace('"params":{', '"params":{"arguments":{"__proto__":{"x":1},"text":"a"},'),
  ),
  ...[
    null,
    [],
    "x",
    5,
    {},
    { name: null },
    { name: 5 },
    { name: [] },
    { name: {} },
    { name: { action: "accept", content: { value: "Ada" } } },
    { name: { method: "elicitation/create", result: { action: "decline" } } },
    { "": {} },
    { form: { action: "accept", content: { name: "x" } } },
    { name: deep(150) },
  ].map((answers) => member("params.inputResponses", answers)),
  body("with __proto__ in its answers", (text) =>
    text.replace('"params":{', '"params":{"inputResponses":{"__proto__":{"action":"accept"}},'),
  ),
  ...["", "x", "v1.x.y", null, 5, {}, [], "é".repeat(200)].map((state) =>
    member("params.requestState", state),
  ),
];

const envelopes: readonly Mutation[] = [
  meta(version),
  ...["2025-11-25", "2026-07-29", "DRAFT-2026-v1", "", null, 5].map((value) =>
    meta(version, value),
  ),
  meta(capabilities),
  ...[
    null,
    [],
    "x",
    {},
    { elicitation: {} },
    { elicitation: { url: {} } },
    { elicitation: { form: { applyDefaults: true } } },
    { elicitation: { form: { applyDefaults: "x" } } },
    { elicitation: { form: null } },
    { elicitation: { form: [] } },
    { elicitation: { other: {} } },
    { elicitation: [] },
    { elicitation: null },
    { sampling: {} },
    { sampling: { tools: true } },
    { sampling: { other: 1 } },
    { roots: {} },
    { roots: { listChanged: 1 } },
    { roots: true },
    { extensions: null },
    { extensions: { a: null } },
    { extensions: { a: [] } },
    { extensions: { "io.modelcontextprotocol/tasks": {} } },
    { extensions: { "io.modelcontextprotocol/tasks": true } },
    { extensions: { a: deep(5) } },
    { extensions: { a: deep(40) } },
    { experimental: { a: 5 } },
    { tasks: {} },
    { tasks: 5 },
    { unknown: 5 },
  ].map((value) => meta(capabilities, value)),
  meta(clientInfo),
  ...[
    null,
    {},
    { name: "x" },
    { name: 5, version: "1" },
    { name: "x", version: "1", title: "t", description: "d", websiteUrl: "no url" },
    { name: "x", version: "1", title: 5 },
    { name: "x", version: "1", icons: [{ src: "a" }] },
    { name: "x", version: "1", icons: "a" },
    { name: "x", version: "1", extra: 5 },
  ].map((value) => meta(clientInfo, value)),
  ...["debug", "warning", "emergency", "loud", null, 5].map((value) => meta(logLevel, value)),
  ...["token", "", 5, -1, 1.5, 1e300, null, {}, true].map((value) => meta("progressToken", value)),
  meta("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
  meta("traceparent", 5),
  meta("io.modelcontextprotocol/related-task", { taskId: "x" }),
  meta("io.modelcontextprotocol/related-task", 5),
  meta("any.example/thing", { of: ["ours"] }),
  meta("__proto__", { x: 1 }),
];

/** The unchanged request comes first. */
export const mutations: readonly Mutation[] = [
  mutation("as it is", () => {}),
  ...http,
  ...smuggled,
  ...contentTypes,
  ...standardHeaders,
  ...bodies,
  ...shape,
  ...envelopes,
];
