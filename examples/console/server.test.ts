import { memoryStore, parley } from "mcp-parley";
import { expect, test } from "vitest";
import { serveConsole } from "./server.ts";

test("visitors who are not signed in are sent away, and others see what they may", async () => {
  const app = parley({
    name: "desk",
    version: "1.0.0",
    store: memoryStore(),
    keys: "example:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
  });
  try {
    const at = await serveConsole(
      app,
      ({ headers }) => {
        const user = headers.get("x-user");
        return user === null ? undefined : { user, teams: user === "ada" ? ["on-call"] : [] };
      },
      0,
    );
    const away = await fetch(at, { redirect: "manual" });
    expect(away.headers.get("location")).toBe("https://ops.example.com/sign-in");
    const sessionOf = async (user: string): Promise<unknown> =>
      (await fetch(new URL("api/session", at), { headers: { "x-user": user } })).json();
    expect(await sessionOf("ada")).toMatchObject({ who: "ada", may: "act", values: true });
    expect(await sessionOf("bo")).toMatchObject({ who: "bo", may: "look", values: false });
  } finally {
    await app.close();
  }
});
