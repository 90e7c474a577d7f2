// SIGTERM and SIGINT in a process that runs tasks: hand them over first.

/** Returns the function that takes it off again. The second signal finds no handler of ours, and ends the process. */
export function beforeEnd(
  close: () => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  const signals = ["SIGTERM", "SIGINT"] as const;
  const takeOff = () => {
    for (const signal of signals) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    takeOff();
    void close()
      .catch(onError)
      .finally(() => {
        // Where the program has handlers of its own, when to end is for them to say.
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
  };
  for (const signal of signals) process.on(signal, end);
  return takeOff;
}
