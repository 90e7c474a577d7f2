// A model that sees nothing but the text of tool results. It does what the text says: asks its user, passes on an address,
// or asks again how the call stands.

import { patience } from "../patience.ts";
import { own } from "../../src/util/objects.ts";
import { fields } from "./trip.ts";
import { answersOn } from "./world.ts";

/** Calls a tool, and returns the texts of its result. */
export type CallTool = (
  name: string,
  args: Readonly<Record<string, unknown>>,
) => Promise<readonly string[]>;

export interface Followed {
  readonly text: string;
  /** The instructions that it followed, and the details that came with them. */
  readonly told: readonly (readonly string[])[];
}

/** Calls a tool and follows what the results say, until one is not "Not finished". */
export async function followText(
  call: CallTool,
  tool: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Followed> {
  const told: (readonly string[])[] = [];
  let texts = await call(tool, args);
  const until = performance.now() + patience.timeout * 2;
  while (performance.now() < until) {
    const [instruction = "", ...details] = texts.join("\n").split("\nDetails: ");
    if (!instruction.startsWith("Not finished")) return { text: texts.join("\n"), told };
    told.push(texts);
    const [, name = "", handle] = /call (\w+) with \{"call":"(\w+)"/i.exec(instruction) ?? [];
    const questions = Object.entries(own(JSON.parse(details.join("") || "{}"), "questions") ?? {});
    for (const [, question] of questions) {
      const url = own(question, "url");
      if (instruction.includes("Give them the address") && typeof url === "string") {
        await answersOn(url);
      }
    }
    const asked = questions.filter(([, question]) => own(question, "schema") !== undefined);
    const answers = Object.fromEntries(asked.map(([key, one]) => [key, said(key, one)]));
    texts = await call(name, { call: handle, ...(asked.length === 0 ? {} : { answers }) });
  }
  throw new Error(`The model was sent around in circles: ${told.at(-1)?.join("\n")}`);
}

/** What the user says when the model asks. */
function said(key: string, question: unknown): unknown {
  const properties = own(own(question, "schema"), "properties");
  if (typeof properties !== "object" || properties === null) return fields[key];
  return Object.fromEntries(Object.keys(properties).map((name) => [name, fields[name]]));
}
