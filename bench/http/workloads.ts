// What is called, and what the result must be. All opponents serve a workload under the same names, so that each gets the
// same request and must give the same result.

export interface Workload {
  readonly name: string;
  readonly method: "tools/call" | "resources/read";
  readonly params: Readonly<Record<string, unknown>>;
  /** The questions of each round except the last. */
  readonly questions: readonly number[];
  /** The text in the result. */
  readonly text: string;
}

/** The answer to every question. */
export const answer = "as it was";

const tool = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  questions: readonly number[],
  text: string,
): Omit<Workload, "name"> => ({
  method: "tools/call",
  params: { name, arguments: args },
  questions,
  text,
});

const echoed = "some forty characters of arguments, or so";

export const plain: Workload = { name: "plain", ...tool("echo", { text: echoed }, [], echoed) };

export const twoRounds: Workload = {
  name: "tworound",
  ...tool("buy", { item: "a lamp" }, [1], `a lamp, ${answer}, for 42`),
};

/** The same from a handler that creates the schema of its question in every run. */
export const inlineSchema: Workload = {
  name: "tworound-inline",
  ...tool("buy_inline", { item: "a lamp" }, [1], `a lamp, ${answer}, for 42`),
};

export const fiveRounds: Workload = { ...counted(5), name: "fiverounds" };

export const fourQuestions: Workload = {
  name: "fourquestions",
  ...tool("form", {}, [4], Array.from({ length: 4 }, () => answer).join()),
};

export const journal = (name: string, bytes: number): Workload => ({
  name,
  ...tool("recall", { bytes }, [1], `${bytes} bytes, ${answer}`),
});

export const resource: Workload = {
  name: "resource",
  method: "resources/read",
  params: { uri: "notes://bench/today" },
  questions: [1],
  text: `today, ${answer}`,
};

/** Several rounds, with one question in each except the last. */
export function counted(rounds: number): Workload {
  const questions = Array.from({ length: rounds - 1 }, () => 1);
  return { name: `${rounds} rounds`, ...tool("count", { rounds }, questions, `${rounds} rounds`) };
}
