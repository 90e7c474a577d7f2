// The files that `parley init` writes: a tool that asks, its server, its test, and the settings to run them.

import { ownManifest } from "../own-files.ts";

/** A file to write. */
export interface Written {
  readonly path: string;
  readonly text: string;
}

/** The files, in the order that a person would read them. */
export function starter(name: string): readonly Written[] {
  return [
    { path: "app.ts", text: app(name) },
    { path: "app.test.ts", text: appTest },
    { path: "server.ts", text: server },
    { path: "package.json", text: `${JSON.stringify(manifest(name), undefined, 2)}\n` },
    { path: "tsconfig.json", text: tsconfig },
    { path: ".gitignore", text: "node_modules\n.parley\n" },
  ];
}

/** The scripts of the new package. */
export const scripts = {
  dev: "parley dev server.ts",
  call: "parley call http://127.0.0.1:3000/mcp",
  test: "vitest run",
  check: "tsc",
  start: "tsx server.ts",
} as const;

/** The packages that the new package needs. */
export interface Packages {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The packages, in the versions that this release was tested with. */
export function packages(): Packages {
  const { version, devDependencies: ours } = ownManifest();
  const range = (name: string) => [name, `^${ours[name] ?? ""}`] as const;
  return {
    dependencies: {
      ...Object.fromEntries([range("@modelcontextprotocol/server")]),
      "mcp-parley": `^${version}`,
      ...Object.fromEntries([range("zod")]),
    },
    devDependencies: Object.fromEntries(["@types/node", "tsx", "typescript", "vitest"].map(range)),
  };
}

const manifest = (name: string) => ({
  name,
  version: "0.1.0",
  private: true,
  type: "module",
  scripts,
  ...packages(),
});

const app = (
  name: string,
) => `// The tools of this server. server.ts serves them, and app.test.ts calls them without a server.

import { memoryStore, parley } from "mcp-parley";
import { z } from "zod";

export const app = parley({
  name: ${JSON.stringify(name)},
  version: "0.1.0",
  // A client that cannot show a form gets a page, or its model asks in the chat. Until the answer comes, the call is kept
  // in the store. In production, use sqliteStore or postgresStore, which keep it through a restart.
  store: memoryStore(),
  relay: true,
});

export const bookTable = app.tool(
  "book_table",
  {
    description: "Book a table at the restaurant",
    inputSchema: z.object({ guests: z.int().min(1).max(12) }),
    ui: "form", // Hosts that render MCP Apps show the questions inside the conversation.
  },
  async ({ guests }, ctx) => {
    const time = await ctx.choose("time", "When would you like to come?", ["18:00", "20:00"], {
      relay: true, // A model may pass on this answer. It may not confirm for its user, so "sure" gets a page.
    });

    // Side effects and lookups belong in a step. A step runs once. Later rounds get its recorded result.
    const table = await ctx.step("find a table", () => (guests > 6 ? "the long table" : "table 4"));

    const isSure = await ctx.confirm("sure", \`Book \${table} for \${guests} at \${time}?\`);
    if (!isSure) return "Nothing was booked.";

    await ctx.step("book", ({ idempotencyKey }) => {
      // Call the restaurant here. Pass the key on, because it is the same if this step has to run again.
      console.error("booked:", table, time, idempotencyKey);
    });
    return \`Booked \${table} for \${guests} at \${time}.\`;
  },
);
`;

const appTest = `import { crashTest, declined, play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { bookTable } from "./app.ts";

test("books one table", async () => {
  const call = await play(bookTable, { guests: 2 }, { time: "20:00", sure: true });
  expect(call.text).toBe("Booked table 4 for 2 at 20:00.");
  expect(call.rounds).toBe(3);
  expect(call.ran("book")).toBe(1);
});

test("books nothing if the guest declines", async () => {
  const call = await play(bookTable, { guests: 8 }, { time: "18:00", sure: declined });
  expect(call.text).toBe("Nothing was booked.");
  expect(call.ran("book")).toBe(0);
});

test("reaches people whose client cannot show a form", async () => {
  const call = await play(bookTable, { guests: 2 }, { time: "20:00", sure: true }, { client: "app" });
  expect(call.text).toBe("Booked table 4 for 2 at 20:00.");
  expect(call.pauses[0]).toContain("A form is shown to the user.");
});

test("repeats a step only with the same idempotency key after a crash", async () => {
  const answers = { time: "20:00", sure: true };
  await crashTest(bookTable, { guests: 2 }, answers, { mayRepeat: ["find a table"] });
});
`;

const server = `import { app } from "./app.ts";

// If port 3000 is taken: PORT=3001 npm run dev
await app.listen(Number(process.env.PORT ?? 3000));
`;

const tsconfig = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "allowImportingTsExtensions": true,
    "erasableSyntaxOnly": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["*.ts"]
}
`;
