// A model that answers from a script, word by word. It stands in for a real one in the tests and in the program.

import { setTimeout as pause } from "node:timers/promises";
import type { Model } from "./tool.ts";

/** `script` has the answer to each prompt that contains its key. */
export function scriptedModel(script: Readonly<Record<string, string>>, msPerWord = 0): Model {
  return {
    async *write(prompt, signal) {
      const [, answer = ""] = Object.entries(script).find(([key]) => prompt.includes(key)) ?? [];
      for (const word of answer.match(/\S+\s*/g) ?? []) {
        await pause(msPerWord, undefined, { signal });
        yield word;
      }
    },
  };
}
