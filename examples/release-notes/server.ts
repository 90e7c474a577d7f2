// The tool as a program, with a model that types. Call it with a client that shows parts, such as `parley call`. There a
// person would have to write what the client's model writes, so the client is not asked for it.

import process from "node:process";
import { memoryStore } from "mcp-parley";
import { scriptedModel } from "./scripted-model.ts";
import { releaseNotesTool } from "./tool.ts";

const model = scriptedModel(
  {
    "Release notes": "Results now arrive while they are made. Slow readers no longer cost memory.",
    Announce: "Version 2.0 is here, and it streams.",
  },
  150,
);
const site = {
  publish: async (text: string) => {
    console.log(`publish: ${text}`);
    return "https://example.com/releases/2.0";
  },
};

const { app } = releaseNotesTool(model, site, memoryStore(), false);
const { url } = await app.listen(Number(process.env["PORT"] ?? 3000));
console.log("url", url);
