// The gates of an app: rules of an operator over many tools.

import { ParleyError } from "../../errors.ts";
import { isObject } from "../../util/objects.ts";
import type { Definition } from "../define/definition.ts";
import { isMatch } from "../define/name-pattern.ts";
import type { Logger } from "../ops/logger.ts";
import { namedRule } from "./rules.ts";
import type { Gate, GatedCall, NamedRule } from "./rules.ts";

/** The part of a definition that decides whether a gate covers it. */
type Gated = Pick<Definition, "method" | "name" | "task" | "isOwn" | "isAdopted">;

/** The gates, in the order in which they were added. */
export class GateRegistry {
  readonly #gates = new Map<string, { readonly gate: Gate; readonly rule: NamedRule }>();

  /** Whether there is none, so that calls need not look further. */
  isEmpty = true;

  readonly add = (name: string, gate: Gate): void => {
    // For JavaScript authors.
    const isGate = isObject(gate) && Array.isArray(gate.tools) && gate.message !== undefined;
    if (typeof name !== "string" || name === "" || name.includes("~") || !isGate) {
      throw new TypeError(
        'app.gate takes a name and a rule: app.gate("deletions", { tools: ["delete_*"], message: … }).',
      );
    }
    if (this.#gates.has(name)) {
      throw new TypeError(`app.gate("${name}") was called twice. Give each gate its own name.`);
    }
    const rule = namedRule(`~gate/${name}`, gate, (input, caller): [GatedCall] => [
      { ...caller, args: isObject(input) ? input : {} },
    ]);
    this.#gates.set(name, { gate, rule });
    this.isEmpty = false;
  };

  /** The rules of the gates that cover a tool. */
  of(tool: Gated): readonly NamedRule[] {
    return [...this.#over(tool)].map(({ rule }) => rule);
  }

  covers(tool: Gated): boolean {
    return !this.isEmpty && [...this.#over(tool)].length > 0;
  }

  /** The first gate that names this tool. */
  matching(tool: string): string | undefined {
    for (const [name, { gate }] of this.#gates) if (isNamed(gate, tool)) return name;
    return undefined;
  }

  /** Throws ParleyError "bad_option" if a gate asks a group that calls of this tool cannot wait for. */
  check(tool: Gated): void {
    for (const { name, gate } of this.#over(tool)) {
      if (gate.by === undefined || tool.task !== undefined) continue;
      const why =
        tool.isAdopted === true
          ? `but "${tool.name}" is a tool of an attached server, which cannot wait for it. Leave the tool out of the gate, or let the caller decide.`
          : `but tool "${tool.name}" cannot wait for it. Give the tool task: "optional", or leave the tool out of the gate.`;
      throw new ParleyError("bad_option", `Gate "${name}" asks the group "${gate.by}", ${why}`);
    }
  }

  /** Checks all tools, and warns of gates that cover none of them. */
  checkAll(
    registered: Iterable<{ readonly definition: Definition }>,
    logger: Pick<Logger, "warn">,
  ): void {
    if (this.isEmpty) return;
    const tools = [...registered].map(({ definition }) => definition).filter(isGateable);
    for (const tool of tools) this.check(tool);
    for (const [name, { gate }] of this.#gates) {
      if (tools.some((tool) => isNamed(gate, tool.name))) continue;
      const patterns = gate.tools.map((pattern) => `"${pattern}"`).join(" or ");
      logger.warn(`Gate "${name}" covers no tool: no name matches ${patterns}.`);
    }
  }

  *#over(tool: Gated): Iterable<{ name: string; gate: Gate; rule: NamedRule }> {
    if (!isGateable(tool)) return;
    for (const [name, { gate, rule }] of this.#gates) {
      if (isNamed(gate, tool.name)) yield { name, gate, rule };
    }
  }
}

/** Prompts and resources are not gated, nor are our own tools, which continue calls that have passed their gates. */
const isGateable = ({ method, isOwn }: Gated): boolean => method === "tools/call" && isOwn !== true;

const isNamed = (gate: Gate, tool: string): boolean =>
  gate.tools.some((pattern) => isMatch(pattern, tool));
