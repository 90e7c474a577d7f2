import { play } from "mcp-parley/testing";
import { expect, test } from "vitest";
import { signInTool } from "./tool.ts";

test("the page gets a ticket, and the tool continues once the person has signed in", async () => {
  const signedIn = new Set<string>();
  let isOpened = false;
  const { listRepositories } = signInTool({
    isSignedIn: async (callId) => {
      if (isOpened) signedIn.add(callId);
      return signedIn.has(callId);
    },
    repositories: async () => ["engine", "website"],
  });
  const call = await play(
    listRepositories,
    {},
    {
      "sign-in": ({ url = "" }) => {
        expect(new URL(url).searchParams.get("state")).not.toBe("");
        isOpened = true;
        return true;
      },
    },
  );
  expect(call.text).toBe("engine\nwebsite");
});
