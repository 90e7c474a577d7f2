// The same work on openworkflow: a workflow that waits for one signal and returns it.
//
// openworkflow has no push. So that its client is not judged by how often it polls, this file tells it, within the
// process, when its backend has parked or completed a run. Parley's engine gets no such help: it is watched through the
// store. Only openworkflow's worker still polls, with its own settings: 100 ms to 1 s after it found nothing.

import { OpenWorkflow } from "openworkflow";
import { Gates, reason } from "./rival.ts";
import type { Missing, Rival } from "./rival.ts";

type Backend = ConstructorParameters<typeof OpenWorkflow>[0]["backend"];

interface Input {
  readonly number: number;
  readonly text: string;
}

class OpenWorkflowEngine implements Rival {
  readonly name = "openworkflow";
  readonly #backend: Backend;
  readonly #flow;
  readonly #client: OpenWorkflow;
  readonly #parked = new Gates();
  readonly #completed = new Gates();
  #worker: ReturnType<OpenWorkflow["newWorker"]> | undefined;
  #runs = 0;

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#tellOf("sleepWorkflowRun", this.#parked);
    this.#tellOf("completeWorkflowRun", this.#completed);
    this.#client = new OpenWorkflow({ backend });
    this.#flow = this.#client.defineWorkflow<Input, unknown>(
      { name: "approve" },
      async ({ input, step }) => {
        const answer = await step.waitForSignal({ name: "go", signal: `go:${input.number}` });
        return { given: input, answer };
      },
    );
  }

  readonly start = async (concurrency: number): Promise<void> => {
    this.#worker = this.#client.newWorker({ concurrency });
    await this.#worker.start();
  };

  readonly stop = async (): Promise<void> => {
    await this.#worker?.stop();
    this.#worker = undefined;
  };

  readonly close = async (): Promise<void> => {
    await this.stop();
    await this.#backend.stop();
  };

  readonly cycle = async (): Promise<void> => {
    const number = (this.#runs += 1);
    const text = "some forty characters of arguments, or so";
    const { workflowRun } = await this.#flow.run({ number, text });
    const { id } = workflowRun;
    await this.#parked.passed(id);
    const sent = await this.#client.sendSignal({ signal: `go:${number}`, data: "go" });
    if (sent.workflowRunIds[0] !== id) throw new Error(`Run ${number} did not get its signal.`);
    await this.#completed.passed(id);
    const run = await this.#backend.getWorkflowRun({ workflowRunId: id });
    check(run, number);
  };

  #tellOf(name: "sleepWorkflowRun" | "completeWorkflowRun", gates: Gates): void {
    const backend = this.#backend;
    const original = backend[name].bind(backend);
    backend[name] = async (params: never) => {
      const done = await original(params);
      gates.open(done.id);
      return done;
    };
  }
}

export async function openOpenWorkflow(
  what: { readonly sqlite: string } | { readonly postgres: string; readonly schema: string },
): Promise<Rival | Missing> {
  // The name is a variable, so that the compiler does not follow it: the types need the package `postgres`, the code Node 22.
  const from: string = "sqlite" in what ? "openworkflow/sqlite" : "openworkflow/postgres";
  try {
    const module: Partial<Record<string, { connect: (...args: unknown[]) => Promise<Backend> }>> =
      await import(from);
    const backend =
      "sqlite" in what
        ? await module["BackendSqlite"]?.connect(what.sqlite)
        : await module["BackendPostgres"]?.connect(what.postgres, { schema: what.schema });
    if (backend === undefined) throw new Error(`${from} has no backend.`);
    return new OpenWorkflowEngine(backend);
  } catch (error) {
    return { name: "openworkflow", why: reason(error) };
  }
}

function check(run: unknown, number: number): void {
  const { status, output } = (run ?? {}) as {
    status?: string;
    output?: { given?: Input; answer?: { data?: unknown } };
  };
  const isRight = output?.given?.number === number && output.answer?.data === "go";
  if (status !== "completed" || !isRight) {
    throw new Error(`Wrong result of run ${number}: ${JSON.stringify(run)}`);
  }
}
