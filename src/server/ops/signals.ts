// SIGTERM and SIGINT in a process that runs tasks: the tasks are released to other workers before the process ends.

/**
 * Calls `close` on the first signal, then lets the process end. A second signal ends it at once. Returns the function that
 * removes the handlers.
 */
export function closeOnSignal(
  close: () => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  const signals = ["SIGTERM", "SIGINT"] as const;
  const remove = () => {
    for (const signal of signals) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    remove();
    void close()
      .catch(onError)
      .finally(() => {
        // If the program has its own handlers, they decide when it ends.
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
  };
  for (const signal of signals) process.on(signal, end);
  return remove;
}

/** Calls `close` when standard input ends, because the client that started this process has gone. */
export function closeWithClient(
  close: () => Promise<void>,
  onError: (error: unknown) => void,
): void {
  const end = () => void close().catch(onError);
  process.stdin.once("end", end).once("close", end);
}
