// The name of a worker, which operators see as the holder of a lease. It ends with the version of the app, so that each
// worker knows which code the others run.

/** The name of the worker of a process. */
export function workerName(process: string, version: string): string {
  return `${process}@${version}`;
}

/** A name as the log shows it. */
export function shownWorker(worker: string): string {
  const version = versionOf(worker);
  if (version === undefined) return worker;
  return `${worker.slice(0, -version.length - 1)} (version ${version})`;
}

/** The version in a name. Undefined in the name of a worker of version 0.1.0. */
export function versionOf(worker: string): string | undefined {
  const at = worker.indexOf("@");
  return at === -1 ? undefined : worker.slice(at + 1);
}
