// What every runtime must do: rounds, prompts, a token that is refused, and, where there are files, a task. The server is
// a process of the runtime, and the client talks to it over HTTP.

import assert from "node:assert/strict";
import { connect } from "mcp-parley/client";
import { accept, callTool, tokenIn } from "../wire/post.ts";

/** What the people say whom the app asks. */
const said: Readonly<Record<string, string>> = {
  where: "Luigi's",
  when: "evening",
  tone: "kind",
};

interface Case {
  readonly name: string;
  readonly needsFiles?: boolean;
  readonly run: (url: string) => Promise<void>;
}

const cases: readonly Case[] = [
  {
    name: "a call of several rounds",
    run: (url) =>
      connected(url, async (server) => {
        const { text } = await server.call("book");
        assert.equal(text, "Table 7 at Luigi's, evening.");
      }),
  },
  {
    name: "a prompt that asks",
    run: (url) =>
      connected(url, async (server) => {
        const { messages } = await server.prompt("review");
        assert.match(JSON.stringify(messages), /Write a kind review\./);
      }),
  },
  {
    name: "a client of 2025-11-25",
    run: (url) =>
      connected(
        url,
        async (server) => {
          const { text } = await server.call("book");
          assert.equal(text, "Table 7 at Luigi's, evening.");
        },
        "2025-11-25",
      ),
  },
  {
    name: "a token that was changed is refused",
    run: async (url) => {
      const requestState = `${tokenIn(await callTool(url, "book"))}x`;
      const inputResponses = { where: accept({ where: "Luigi's" }) };
      const { error, result } = await callTool(url, "book", {}, { requestState, inputResponses });
      assert.deepEqual(error?.data ?? { error, result }, { reason: "invalid_request_state" });
    },
  },
  {
    name: "a task that asks, kept in SQLite",
    needsFiles: true,
    run: (url) =>
      connected(url, async (server) => {
        const { text } = await server.call("cook");
        assert.equal(text, "soup with salt");
      }),
  },
];

async function connected(
  url: string,
  use: (server: Awaited<ReturnType<typeof connect>>) => Promise<void>,
  era: "2026-07-28" | "2025-11-25" = "2026-07-28",
): Promise<void> {
  const server = await connect(url, {
    era,
    elicit: (question) => {
      const fields = question.kind === "form" ? Object.keys(question.schema.properties) : [];
      return {
        action: "accept",
        content: Object.fromEntries(fields.map((name) => [name, said[name] ?? true])),
      };
    },
  });
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

/** Runs the suite against a server. Throws if a case fails. */
export async function smoke(
  url: string,
  hasFiles: boolean,
  say: (line: string) => void,
): Promise<void> {
  for (const { name, needsFiles, run } of cases) {
    if (needsFiles === true && !hasFiles) {
      say(`  skipped: ${name}, because there are no files`);
      continue;
    }
    await run(url).catch((cause: unknown) => {
      throw new Error(`Failed: ${name}.`, { cause });
    });
    say(`  passed: ${name}`);
  }
}
