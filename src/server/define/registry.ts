// What has been registered with an app, in order.

import type { Definition } from "./definition.ts";
import type { PromptConfig } from "./prompt.ts";
import type { ResourceConfig } from "./resource.ts";
import type { Schema } from "../forms/schema.ts";
import type { ToolConfig } from "./tool.ts";

interface RegisteredTool {
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

export interface RegisteredResource {
  readonly kind: "resource";
  readonly name: string;
  readonly uri: string;
  readonly isTemplate: boolean;
  readonly config: ResourceConfig<string>;
  readonly definition: Definition;
}

export type Registration = RegisteredTool | RegisteredPrompt | RegisteredResource;

export class Registry {
  readonly #byName = new Map<string, Registration>();

  add(registration: Registration): void {
    const key = `${registration.kind} ${registration.name}`;
    if (this.#byName.has(key)) {
      throw new TypeError(`${registration.kind} "${registration.name}" is registered twice.`);
    }
    this.#byName.set(key, registration);
  }

  get size(): number {
    return this.#byName.size;
  }

  [Symbol.iterator](): Iterator<Registration> {
    return this.#byName.values();
  }
}
