// The tools, prompts and resources of an app, in the order of their registration.

import type { Definition } from "./definition.ts";
import type { PromptConfig } from "./prompt.ts";
import type { ResourceConfig } from "./resource.ts";
import type { Schema } from "../forms/schema.ts";
import type { ToolConfig } from "./tool.ts";

/** A registered tool. */
export interface RegisteredTool {
  readonly kind: "tool";
  readonly name: string;
  readonly config: ToolConfig<Schema | undefined, Schema | undefined>;
  readonly definition: Definition;
}

interface RegisteredPrompt {
  readonly kind: "prompt";
  readonly name: string;
  readonly config: PromptConfig<Schema | undefined>;
  readonly definition: Definition;
}

/** A registered resource. */
export interface RegisteredResource {
  readonly kind: "resource";
  readonly name: string;
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly config: ResourceConfig<string>;
  readonly definition: Definition;
}

/** A registered tool, prompt or resource with its configuration. */
export type Registration = RegisteredTool | RegisteredPrompt | RegisteredResource;

/** Keeps what is registered, by kind and name. */
export class Registry {
  readonly #byName = new Map<string, Registration>();

  add(registration: Registration): void {
    const key = `${registration.kind} ${registration.name}`;
    if (this.#byName.has(key)) {
      throw new TypeError(
        `The ${registration.kind} "${registration.name}" is registered twice. Each needs its own name.`,
      );
    }
    this.#byName.set(key, registration);
  }

  /** The tool with this name. */
  tool(name: string): RegisteredTool | undefined {
    const found = this.#byName.get(`tool ${name}`);
    return found?.kind === "tool" ? found : undefined;
  }

  /** The names of the tools. */
  tools(): ReadonlySet<string> {
    const tools = [...this.#byName.values()].filter(({ kind }) => kind === "tool");
    return new Set(tools.map(({ name }) => name));
  }

  get size(): number {
    return this.#byName.size;
  }

  [Symbol.iterator](): Iterator<Registration> {
    return this.#byName.values();
  }
}
