// The ways a call can travel from a client to the errands and back.

import { fileURLToPath } from "node:url";
import { cancelled, declined, play } from "mcp-parley/testing";
import type { AskedQuestion, ScriptedAnswer } from "mcp-parley/testing";
import { program } from "../programs.ts";
import { connectV1, connectV2, legacy, modern } from "./clients.ts";
import type { Connected, Place, Told } from "./clients.ts";
import { errands, keys } from "./errands.ts";
import type { Errands } from "./errands.ts";
import type { People } from "./people.ts";

export interface Carrier {
  readonly name: string;
  /** How many questions in a row its client or server accepts. One more is an error. */
  readonly mostRounds: number;
  /** The error for one more question. */
  readonly refusal?: string;
  readonly open: (people: People) => Promise<Connected>;
}

/** The official client has its own limit. In a session only the server's limit of fifty rounds applies. */
const ofClient = { mostRounds: 10, refusal: "still required input after 10 rounds" };
const ofServer = {
  mostRounds: 49,
  refusal: "has taken 50 rounds, which is the limit, and asks again",
};

export const carriers: readonly Carrier[] = [
  {
    name: "modern HTTP (v2 client)",
    ...ofClient,
    open: (people) => overHttp((place) => connectV2(place, people, modern)),
  },
  {
    name: "modern HTTP, each request to another instance",
    ...ofClient,
    open: (people) => overTwoInstances((place) => connectV2(place, people, modern)),
  },
  {
    name: "modern stdio (v2 client)",
    ...ofClient,
    open: (people) => connectV2(stdioServer, people, modern),
  },
  {
    name: "modern stdio after a probe (v2 client)",
    ...ofClient,
    open: (people) => connectV2(stdioServer, people, { mode: "auto" }),
  },
  {
    name: "legacy stdio (v2 client)",
    ...ofServer,
    open: (people) => connectV2(stdioServer, people, legacy),
  },
  {
    name: "legacy stdio (v1 client)",
    ...ofServer,
    open: (people) => connectV1(stdioServer, people),
  },
  {
    name: "legacy HTTP session (v2 client)",
    ...ofServer,
    open: (people) => overHttp((place) => connectV2(place, people, legacy)),
  },
  {
    name: "legacy HTTP session (v1 client)",
    ...ofServer,
    open: (people) => overHttp((place) => connectV1(place, people)),
  },
  {
    name: "the kit (play)",
    mostRounds: Number.POSITIVE_INFINITY,
    open: async (people) => played(errands(), people),
  },
];

const root = fileURLToPath(new URL("../..", import.meta.url));

/** One process without a shell or wrapper around it, so that killing it ends all of it. */
const stdioServer: Extract<Place, { command: string }> = {
  command: process.execPath,
  args: [...program("test/interop/stdio-server.ts")],
  cwd: root,
};

async function overHttp(connect: (place: Place) => Promise<Connected>): Promise<Connected> {
  const { app } = errands({ keys });
  const { url } = await app.listen(0);
  return closing(await connect({ url }), () => app.close());
}

/** They share only the keys and the ledger, which stands for outside services. */
async function overTwoInstances(connect: (place: Place) => Promise<Connected>): Promise<Connected> {
  const done: string[] = [];
  const apps = [errands({ keys }, done).app, errands({ keys }, done).app];
  const places = await Promise.all(apps.map((app) => app.listen(0)));
  let requests = 0;
  const elsewhere: typeof fetch = (_url, init) => {
    requests += 1;
    return fetch(places[requests % places.length]?.url ?? "", init);
  };
  return closing(await connect({ url: places[0]?.url ?? "", fetch: elsewhere }), () =>
    Promise.all(apps.map((app) => app.close())),
  );
}

function closing(connected: Connected, close: () => Promise<unknown>): Connected {
  return {
    ...connected,
    close: async () => {
      await connected.close();
      await close();
    },
  };
}

/** The test kit takes handles, not names. */
function played({ app, tools, prompts, resources }: Errands, people: People): Connected {
  const script = ({ kind, message, schema }: AskedQuestion): ScriptedAnswer => {
    switch (kind) {
      case "form": {
        const { action, content } = people.form(message);
        if (action !== "accept") return action === "decline" ? declined : cancelled;
        // An empty form is a confirmation.
        return Object.keys(schema?.properties ?? {}).length === 0 ? true : (content ?? {});
      }
      case "url":
        return people.url(message).action === "accept";
      case "sampling":
        return people.model(message);
      case "roots":
        return people.roots();
      case "connect":
      case "external":
      case "approval":
        throw new Error("none of these errands waits for someone else");
    }
  };
  return {
    tool: async (name, args = {}): Promise<Told> => play(handleOf(tools, name), args, script),
    prompt: async (name, args = {}) => (await play(handleOf(prompts, name), args, script)).text,
    read: async (uri) => (await play(handleOf(resources, uri), uri, script)).text,
    toolNames: async () => Object.keys(tools),
    close: () => app.close(),
  };
}

function handleOf<H>(handles: Readonly<Record<string, H>>, name: string): H {
  const handle = handles[name];
  if (handle === undefined) throw new Error(`errands.ts has no "${name}"`);
  return handle;
}
