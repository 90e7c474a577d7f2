// A hostile or a broken server. Its text cannot overwrite the screen, fill the memory, or send a person to a harmful
// address. The command says in one sentence what is odd about it.

import { readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, onTestFinished, test } from "vitest";
import { form, hostile } from "../../src/client/hostile.fixture.ts";
import type { Saying } from "../../src/client/hostile.fixture.ts";
import { emptyFolder, parley, parleyProcess, read } from "./run.ts";
import { keys, parleyOnScreen } from "./screen.ts";
import type { Screen } from "./screen.ts";

const wipe = "\u001B[2J\u009B2J\u001B]0;mine\u0007";
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const harmful = /\u001B\[2J|\u009B|\u001B\]0|\u202E/;

async function serving(say: Saying): Promise<string> {
  const { url, close } = await hostile(say);
  onTestFinished(close);
  return url;
}

/** A server with one tool. It asks these questions in its first round, and returns the answers in its second. */
const asking =
  (inputRequests: object): Saying =>
  ({ method, params }) => {
    if (method === "tools/list") return listed([{ name: "t", inputSchema: { type: "object" } }]);
    const { inputResponses } = params;
    if (inputResponses === undefined) {
      return { resultType: "input_required", requestState: "s", inputRequests };
    }
    return done(JSON.stringify(inputResponses));
  };

const listed = (tools: readonly object[], more: object = {}) => ({
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  tools,
  ...more,
});

const done = (text: string) => ({ resultType: "complete", content: [{ type: "text", text }] });

const asked = (properties: string | object, message = "Well?") => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message,
    requestedSchema: {
      type: "object",
      properties: typeof properties === "string" ? JSON.parse(properties) : properties,
      required: Object.keys(typeof properties === "string" ? JSON.parse(properties) : properties),
    },
  },
});

function onScreen(url: string): Screen {
  const screen = parleyOnScreen(["call", url, "t"], { cwd: emptyFolder(), env: { NO_COLOR: "1" } });
  onTestFinished(() => screen.kill("SIGKILL"));
  return screen;
}

describe("at a terminal", () => {
  test("shows a form whose bounds, titles, defaults and formats have wrong types", async () => {
    const odd = {
      bound: { type: "string", minLength: wipe, title: `${wipe}Bound`, default: wipe },
      number: { type: "integer", minimum: wipe, title: 5, default: { toString: 1 } },
      format: { type: "string", format: "phone", title: "Format", description: ["\u202E"] },
      kind: { type: "object", title: "Kind" },
      list: { type: "array", title: "List", items: { enum: [] } },
      choice: { type: "string", title: "Choice", enum: [{ toString: 1 }, wipe], default: 5 },
    };
    const screen = onScreen(await serving(asking({ q: asked(odd) })));
    const answers: [RegExp, ...string[]][] = [
      [/◆ {2}Bound\n/, "x", keys.enter],
      [/Expected text of at least/, keys.escape],
      [/Leave this question\?/, keys.down, keys.enter],
    ];
    for (const [question, ...typed] of answers) {
      await screen.shows(question);
      screen.press(...typed);
    }
    expect(await screen.ended).toBe(0);
    expect(screen.raw()).not.toMatch(harmful);
  });

  test("asks for a field of an unknown kind as JSON, and leaves the check to the server", async () => {
    const odd = {
      format: { type: "string", format: "phone", title: "Format" },
      list: { type: "array", title: "List", items: { type: "string" } },
    };
    const text = JSON.stringify(odd).replace(
      /}$/,
      ',"__proto__":{"type":"string","title":"Proto"}}',
    );
    const screen = onScreen(await serving(asking({ q: asked(text) })));
    await screen.shows(/◆ {2}Format\n/);
    screen.press("123", keys.enter);
    await screen.shows(/◆ {2}List\n/);
    screen.press('["a"]', keys.enter);
    await screen.shows(/◆ {2}Proto\n/);
    screen.press("x", keys.enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text().replaceAll("\n", "")).toContain(
      `{"format":"123","list":["a"],"__proto__":"x"}`,
    );
  });

  test("shortens a message of megabytes, and a list of a hundred thousand choices", async () => {
    const many = Array.from({ length: 100_000 }, (_, at) => `choice ${at}`);
    const question = asked({ pick: { type: "string", enum: many } }, "word ".repeat(1_000_000));
    const screen = onScreen(await serving(asking({ q: question })));
    await screen.shows(/more characters\)[^]*choice 0/);
    screen.press(keys.down, keys.enter);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain(`"pick":"choice 1"`);
    expect(screen.raw().length).toBeLessThan(200_000);
  });

  test("shows malformed messages for a model", async () => {
    const params = {
      messages: [null, { role: wipe, content: null }, { role: 5, content: [{ type: wipe }] }],
      systemPrompt: { a: wipe },
      maxTokens: wipe,
    };
    const screen = onScreen(
      await serving(asking({ q: { method: "sampling/createMessage", params } })),
    );
    await screen.shows(/Your answer for the model/);
    screen.press("x", keys.enter);
    await screen.ended;
    expect(screen.raw()).not.toMatch(harmful);
  });
});

describe("without a terminal", () => {
  async function said(say: Saying, ...args: string[]) {
    const cwd = emptyFolder();
    const since = performance.now();
    const ran = await parley(["call", await serving(say), "t", ...args], { cwd });
    return { ...ran, ms: performance.now() - since };
  }

  test("prints a hundred questions on lines of a readable length", async () => {
    const many = Array.from({ length: 100 }, (_, at) => [`key-${at}`, form("Well?")] as const);
    const { code, stdout, stderr } = await said(asking(Object.fromEntries(many)));
    expect(code).toBe(6);
    expect(stderr).toMatch(/asks key-0, .* and 92 more\n/);
    expect(stdout.match(/^\? key-\d+ /gm)).toHaveLength(100);
    const lines = (stdout + stderr).split("\n");
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(1_000);
  });

  test("prints a form of an unknown kind", async () => {
    const { code, stdout } = await said(asking({ q: asked({ [wipe]: { type: wipe } }) }));
    expect(code).toBe(6);
    expect(stdout).toContain("? q (form) Well?\n    : JSON\n");
    expect(stdout).not.toMatch(harmful);
  });

  test("warns of a misleading address, and refuses one that is not http or https", async () => {
    const page = (url: string) =>
      asking({
        q: { method: "elicitation/create", params: { mode: "url", message: "Go", url } },
      });
    const { stdout } = await said(page("https://bank.example@evil.example/"));
    expect(stdout).toContain("The page is on evil.example: https://bank.example@evil.example/\n");
    expect(stdout).toContain("The part before the @ is a user name and password, not the host.");
    const script = await said(page("javascript:alert(1)"));
    expect(script).toMatchObject({ code: 1, stdout: "" });
    expect(script.stderr).toMatch(/question "q" has no http or https URL/);
  });

  test("prints names of tools and arguments without control characters", async () => {
    const inputSchema = { type: "object", required: [wipe + "name"] };
    const { code, stderr } = await said(() => listed([{ name: "t", inputSchema }]));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^The tool needs name \(JSON or text\)\. Add name=…\n/);
    const other = await said(() => listed([{ name: `${wipe}\nother\n`, inputSchema }]));
    expect(other.stderr).toMatch(/^The server has no tool "t"\. It has other\.\n/);
  });

  test("stops reading an endless list of tools", async () => {
    const tools = Array.from({ length: 1_000 }, (_, at) => ({
      name: `tool-${at}`,
      inputSchema: { type: "object" },
    }));
    let page = 0;
    const { code, stderr } = await said(({ method }) => {
      page += 1;
      return method === "tools/list" ? listed(tools, { nextCursor: `${page}` }) : done("");
    });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^The server has no tool "t"/);
    expect(page).toBe(10);
  });

  test("prints a result of many megabytes, and refuses one that is nested too deeply", async () => {
    const large = await said(({ method }) =>
      method === "tools/list"
        ? listed([{ name: "t", inputSchema: { type: "object" } }])
        : done("x".repeat(10_000_000)),
    );
    expect(large).toMatchObject({ code: 0 });
    expect(large.stdout).toHaveLength(10_000_001);
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    const nested = await said(({ method, id }, response) => {
      if (method === "tools/list") return listed([{ name: "t", inputSchema: { type: "object" } }]);
      response.setHeader("content-type", "application/json");
      response.end(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"resultType":"complete","content":[],"structuredContent":{"a":${deep}}}}`,
      );
      return undefined;
    });
    expect(nested.code).toBe(1);
    expect(nested.stderr.split("\n").length).toBeLessThan(6);
  });
});

test("a server that prints an endless line does not fill the memory", async () => {
  const cwd = emptyFolder();
  writeFileSync(
    join(cwd, "loud.mjs"),
    `const text = "x".repeat(1_000_000);
     let times = 0;
     const go = () => (times++ < 300 ? process.stderr.write(text, go) : process.exit(3));
     go();`,
  );
  const env = { NODE_OPTIONS: "--max-old-space-size=150" };
  const { code, stderr } = await parleyProcess(["list", "loud.mjs"], { cwd, env });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^loud\.mjs exited with code 3\. It printed:\n {2}x{400,500}…\n$/);
});

test("a command that is started gets no variables except basic ones and those that are named", async () => {
  const cwd = emptyFolder();
  const names = "Object.keys(process.env).filter((name) => /^PATH$|SECRET|PARLEY_/.test(name))";
  const script = `console.error("has", ${names}.sort().join(" ")); process.exit(3);`;
  writeFileSync(join(cwd, "server.mjs"), script);
  const env = { PARLEY_TOKEN: "t", PARLEY_KEYS: "k", MY_SECRET: "s", HER_SECRET: "h" };
  const has = async (...args: string[]) => {
    const { stderr } = await parley(["list", ...args], { cwd, env });
    return { stderr, names: /has (.*)/.exec(stderr)?.[1]?.split(" ") };
  };
  const command = ["--", process.execPath, "server.mjs"];
  const bare = await has(...command);
  expect(bare.names).toEqual(["PATH"]);
  expect(bare.stderr).toContain("It was started without your environment variables.");
  const named = await has("--env", "MY_SECRET", "--env", "OUR_SECRET=x", ...command);
  expect(named.names).toEqual(["MY_SECRET", "OUR_SECRET", "PATH"]);
  expect((await has("--env", "NONE", ...command)).stderr).toContain(
    "--env NONE: the variable is not set.",
  );
  // A server file is the person's own, so it gets all variables, as with `node`. The token is for the servers that the
  // command calls.
  const file = ["HER_SECRET", "MY_SECRET", "PARLEY_KEYS", "PATH"];
  const ofFile = (await has("server.mjs")).names;
  expect(ofFile).toEqual(expect.arrayContaining(file));
  expect(ofFile).not.toContain("PARLEY_TOKEN");
});

describe("signing in", () => {
  /** A server on this machine that sends people to `page` to sign in. Its metadata names its own authorization server. */
  async function leadingTo(server: (origin: string) => string, page: string): Promise<string> {
    const http = createServer((request, response) => {
      const { port } = http.address() as AddressInfo;
      const origin = `http://127.0.0.1:${port}`;
      response.setHeader("content-type", "application/json");
      if (request.url?.includes("oauth-protected-resource")) {
        const about = { resource: `${origin}/mcp`, authorization_servers: [server(origin)] };
        return response.end(JSON.stringify(about));
      }
      if (request.url?.includes("well-known")) {
        const about = {
          issuer: origin,
          authorization_endpoint: page,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
        };
        return response.end(JSON.stringify(about));
      }
      if (request.url === "/register") {
        const client = { client_id: "c", redirect_uris: ["http://127.0.0.1:1/callback"] };
        return response.writeHead(201).end(JSON.stringify(client));
      }
      return response.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
    });
    await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  }

  test("if the server does not offer it, the error says so instead of saying that the server is down", async () => {
    const http = createServer((request, response) => {
      const isMcp = request.url === "/mcp";
      return response
        .writeHead(isMcp ? 401 : 404, isMcp ? { "WWW-Authenticate": "Bearer" } : {})
        .end();
    });
    await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const cwd = emptyFolder();
    const env = { XDG_CONFIG_HOME: join(cwd, "config") };
    const args = ["call", `${origin}/mcp`, "t", "--login", "--json"];
    const { code, stdout } = await parley(args, { cwd, env });
    expect(code).toBe(1);
    expect(read(stdout)).toMatchObject({
      error: {
        code: "refused",
        message: `The server requires you to sign in, but ${origin} does not offer OAuth metadata, so --login cannot find where to sign in. Ask the operator of the server for a token, and pass it with --token.`,
      },
    });
  });

  test("if the sign-in address is down, the error names that address, not the server", async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => void gone.listen(0, "127.0.0.1", resolve));
    const issuer = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
    await new Promise((resolve) => void gone.close(resolve));
    const url = await leadingTo(() => issuer, "unused");
    const cwd = emptyFolder();
    const env = { XDG_CONFIG_HOME: join(cwd, "config") };
    const { code, stdout } = await parley(["call", url, "t", "--login", "--json"], { cwd, env });
    expect(code).toBe(1);
    expect(read(stdout)).toMatchObject({
      error: {
        code: "server_down",
        message: expect.stringMatching(
          `^The server sends you to ${issuer} to sign in, and that address cannot be reached \\(.*ECONNREFUSED.*\\)\\. Check your network,`,
        ),
      },
    });
  });

  test.each([
    ["a file instead of a page", (origin: string) => origin, "file:///etc/passwd"],
    ["a page without encryption", (origin: string) => origin, "http://evil.example/in"],
    [
      "an authorization server without encryption",
      () => "http://evil.example",
      "https://evil.example/in",
    ],
  ])("does not send a person to %s", async (_, server, page) => {
    const url = await leadingTo(server, page);
    const cwd = emptyFolder();
    const env = { XDG_CONFIG_HOME: join(cwd, "config") };
    const args = ["call", url, "t", "--login", "--json"];
    const { code, stdout, stderr } = await parley(args, { cwd, env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(read(stdout)).toMatchObject({
      error: {
        code: "refused",
        message: expect.stringMatching(/^The server wants you to sign in at /),
      },
    });
    expect(readdirSync(cwd)).not.toContain(".parley");
  });
});
