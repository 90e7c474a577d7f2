// The same work on DBOS: a workflow that receives one message and returns it.
//
// It is configured as its documentation shows: a name, the URL of its system database, and workflows that are registered
// before `DBOS.launch()`. Pool (10 connections), polling and LISTEN/NOTIFY are its defaults. `recv` has a timeout, which
// the documentation recommends. The workflow runs in this process, so its handle gets the result without polling.
//
// Parley's client sees the question through the store. So that DBOS is not charged for an event that only this benchmark
// needs, this file tells its client, within the process, that the workflow is about to receive.

import { createRequire } from "node:module";
import { join } from "node:path";
import pg from "pg";
import { installed } from "../installed.ts";
import { Gates, reason } from "./rival.ts";
import type { Missing, Rival } from "./rival.ts";

const version = "5.3.0";

interface Input {
  readonly number: number;
  readonly text: string;
}

interface Output {
  readonly given: Input;
  readonly answer: string | null;
}

type Workflow = (input: Input) => Promise<Output>;

/** The parts of DBOS that are used here. Its own types are not installed with the repository. */
interface Dbos {
  readonly workflowID: string | undefined;
  readonly setConfig: (config: {
    readonly name: string;
    readonly systemDatabaseUrl: string;
    readonly applicationVersion: string;
    readonly logLevel: string;
  }) => void;
  readonly registerWorkflow: (workflow: Workflow, config: { readonly name: string }) => Workflow;
  readonly launch: () => Promise<void>;
  readonly shutdown: () => Promise<void>;
  readonly startWorkflow: (workflow: Workflow) => (input: Input) => Promise<{
    readonly workflowID: string;
    readonly getResult: () => Promise<Output>;
  }>;
  readonly send: (workflowId: string, message: string, topic: string) => Promise<void>;
  readonly recv: (topic: string, timeoutSeconds: number) => Promise<string | null>;
}

const topic = "go";
const answer = "yes, do";

export async function openDbos(url: string): Promise<Rival | Missing> {
  try {
    const modules = await installed(`@dbos-inc/dbos-sdk@${version}`);
    const require = createRequire(join(modules, "here.js"));
    const { DBOS }: { readonly DBOS: Dbos } = require("@dbos-inc/dbos-sdk");
    return await launched(DBOS, await ownDatabase(url));
  } catch (error) {
    return { name: "dbos", why: reason(error) };
  }
}

async function launched(DBOS: Dbos, url: string): Promise<Rival> {
  const receiving = new Gates();
  const approve = DBOS.registerWorkflow(
    async (given) => {
      receiving.open(DBOS.workflowID ?? "");
      return { given, answer: await DBOS.recv(topic, 60) };
    },
    { name: "approve" },
  );
  DBOS.setConfig({
    name: "parley-bench",
    systemDatabaseUrl: url,
    applicationVersion: "1",
    logLevel: "error",
  });
  await DBOS.launch();
  let runs = 0;
  return {
    name: "dbos",
    // It has no worker to start: workflows run where they were started.
    start: async () => {},
    stop: async () => {},
    cycle: async () => {
      const given = { number: (runs += 1), text: "some forty characters of arguments, or so" };
      const { workflowID, getResult } = handle(await DBOS.startWorkflow(approve)(given));
      await receiving.passed(workflowID);
      await DBOS.send(workflowID, answer, topic);
      const output = await getResult();
      if (output.given.number !== given.number || output.answer !== answer) {
        throw new Error(`Wrong result of workflow ${given.number}: ${JSON.stringify(output)}`);
      }
    },
    close: () => DBOS.shutdown(),
  };
}

type Handle = Awaited<ReturnType<ReturnType<Dbos["startWorkflow"]>>>;

const handle = (one: Handle) => ({
  workflowID: one.workflowID,
  getResult: () => one.getResult(),
});

/** The documentation gives the system database to DBOS alone. It is on the same server as everything else here. */
async function ownDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const name = "dbos_sys";
  await client.query(`create database ${name}`);
  await client.end();
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}
