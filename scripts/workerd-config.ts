// The configuration of workerd for a Worker of one file, with or without a Durable Object.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The oldest date that docs/serve.md names. From then on, `process.env` holds the variables of a Worker. */
const compatibilityDate = "2025-04-01";

/** How a Worker is run. */
export interface WorkerSetup {
  /** The Worker in the folder. */
  readonly script: string;
  readonly key: string;
  /** A folder for the storage of the class `Tasks`, bound as `TASKS`. Undefined: the Worker has no object. */
  readonly storage?: string | undefined;
}

/** Writes the configuration beside the Worker, and returns its path. */
export function writeConfig(folder: string, { script, key, storage }: WorkerSetup): string {
  if (storage !== undefined) mkdirSync(storage, { recursive: true });
  const object =
    storage === undefined
      ? { binding: "", settings: "", service: "" }
      : {
          binding: ', (name = "TASKS", durableObjectNamespace = "Tasks")',
          settings: `
    durableObjectNamespaces = [(className = "Tasks", uniqueKey = "tasks", enableSql = true)],
    durableObjectStorage = (localDisk = "disk"),`,
          service: `, (name = "disk", disk = (path = ${JSON.stringify(storage)}, writable = true))`,
        };
  const file = join(folder, `${script}.capnp`);
  writeFileSync(
    file,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "${script}")],
    compatibilityDate = "${compatibilityDate}",
    compatibilityFlags = ["nodejs_compat"],
    bindings = [(name = "PARLEY_KEYS", text = "${key}")${object.binding}],${object.settings}
  ))${object.service}],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`,
  );
  return file;
}
