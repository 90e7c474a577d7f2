// The world around a server: it notes what bodies do, and people open the pages that they are sent to.

import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { fields } from "./trip.ts";

export interface World {
  readonly url: string;
  /** What bodies have done, in order. */
  readonly done: readonly string[];
}

/** Starts a world, until the test ends. A colleague opens each link that comes by mail, and answers. */
export async function openWorld(): Promise<World> {
  const done: string[] = [];
  const visits: Promise<void>[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      if (request.url === "/did") done.push(text);
      else visits.push(answersOn(text));
      // A connection that stays open would keep the server's process alive.
      response.setHeader("connection", "close").end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(async () => {
    await Promise.all(visits);
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, done };
}

/** Opens a page by plain HTTP, fills in what it has fields for, and sends it as a browser does. */
export async function answersOn(url: string): Promise<void> {
  const { origin } = new URL(url);
  let page = await (await fetch(url)).text();
  // A wait tells its colleague before it is open. Its page says so and loads again.
  for (let n = 0; n < 1_000 && page.includes("One moment"); n += 1) {
    page = await (await fetch(url)).text();
  }
  const names = Array.from(page.matchAll(/name="f\.([^"]+)"/g), ([, name = ""]) => name);
  const body = new URLSearchParams({ action: "accept" });
  for (const name of new Set(names)) body.append(`f.${name}`, String(fields[name]));
  const sent = await fetch(url, { method: "POST", body, headers: { origin } });
  const text = await sent.text();
  if (!text.includes("Saved")) throw new Error(`The page did not take the answer: ${text}`);
}
