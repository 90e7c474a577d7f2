// The page of a host that renders MCP Apps, for `parley dev --client app`: it calls a tool as a model does, and shows the
// App of the tool below.

const style = `body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color-scheme:light dark}
form{display:grid;gap:.5rem;justify-items:start}select,textarea,button{font:inherit;padding:.375rem .75rem}
textarea{width:100%;box-sizing:border-box;font-family:ui-monospace,monospace}
iframe{display:block;width:100%;height:0;border:0}
pre{padding:.75rem;border:1px solid;border-radius:.5rem;white-space:pre-wrap;overflow-wrap:anywhere}
h2{margin:1.5rem 0 .5rem;font-size:1rem}`;

const script = String.raw`
const at = (id) => document.getElementById(id);
const turns = at("turns");
let frame, shown, theme = "light";
async function ask(path, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(path, body && { method: "POST", headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}
function note(title, text) {
  const heading = document.createElement("h2");
  heading.textContent = title;
  const shownText = document.createElement("pre");
  shownText.textContent = text;
  turns.append(heading, shownText);
}
const textOf = ({ content = [] }) => content.map((block) => block.text ?? "[" + block.type + "]").join("\n");
async function call(name, args) {
  try {
    theme = at("dark").checked ? "dark" : "light";
    const result = await ask("call", { name, arguments: args });
    note("The model reads the result of " + name, textOf(result));
    const pause = Object.entries(result._meta ?? {}).find(([key]) => key.endsWith("/pause"))?.[1];
    shown = { args, result };
    frame = document.createElement("iframe");
    frame.title = "The App";
    frame.setAttribute("sandbox", "allow-scripts");
    frame.srcdoc = (await ask("app")).html;
    turns.append(frame);
    if (pause === undefined) return;
    const next = document.createElement("button");
    next.textContent = "Say that you are done (the model calls continue_call)";
    next.onclick = () => { next.remove(); void call("continue_call", { call: pause.call }); };
    turns.append(next);
  } catch (error) { note("The call failed", error.message); }
}
addEventListener("message", async ({ source, data }) => {
  if (source !== frame?.contentWindow || data?.jsonrpc !== "2.0") return;
  const send = (message) => source.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const { id, method, params } = data;
  if (method === "ui/initialize") {
    const hostCapabilities = { serverTools: {}, updateModelContext: { text: {} } };
    const hostInfo = { name: "parley dev", version: "1.0.0" };
    const { protocolVersion } = params;
    send({ id, result: { protocolVersion, hostInfo, hostCapabilities, hostContext: { theme } } });
  } else if (method === "ui/notifications/initialized") {
    send({ method: "ui/notifications/tool-input", params: { arguments: shown.args } });
    send({ method: "ui/notifications/tool-result", params: shown.result });
  } else if (method === "ui/notifications/size-changed") {
    frame.style.height = params.height + "px";
  } else if (method === "tools/call") {
    await ask("call", params).then((result) => send({ id, result }), ({ message }) => send({ id, error: { code: -32603, message } }));
  } else if (method === "ui/update-model-context") {
    note("The App tells the model", textOf(params));
    send({ id, result: {} });
  } else if (id !== undefined && method !== undefined) {
    send({ id, error: { code: -32601, message: "Unknown method: " + method } });
  }
});
const tools = await ask("tools");
for (const { name } of tools) at("tool").append(new Option(name));
const example = () => { at("args").value = tools.find(({ name }) => name === at("tool").value)?.example ?? "{}"; };
at("tool").onchange = example;
example();
at("none").hidden = tools.length > 0;
at("form").hidden = tools.length === 0;
at("form").onsubmit = (event) => {
  event.preventDefault();
  turns.replaceChildren();
  try { void call(at("tool").value, JSON.parse(at("args").value)); } catch (error) { note("These arguments are not JSON", error.message); }
};`;

/** The document. It calls the server through the program that serves it. */
export const previewPage = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>A host that renders MCP Apps</title><style>${style}</style></head>
<body><main><h1>A host that renders MCP Apps</h1>
<p id="none" hidden>No tool of this server shows the App. Add <code>ui: "form"</code> to the config of a tool, and reload this page.</p>
<form id="form" hidden><label for="tool">Tool</label><select id="tool"></select>
<label for="args">Arguments, as JSON</label><textarea id="args" rows="4"></textarea>
<label><input type="checkbox" id="dark"> The host is dark</label><button>Call it</button></form>
<div id="turns" aria-live="polite"></div></main><script type="module">${script}</script></body></html>`;
