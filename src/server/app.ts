// `parley()`: where tools are registered.

import type { Implementation } from "@modelcontextprotocol/server";
import { ParleyError } from "../errors.ts";
import { parseKeys } from "../token/keyring.ts";
import type { Keyring } from "../token/keyring.ts";
import { defaultLimits } from "./core.ts";
import type { Core, Limits } from "./core.ts";
import type { Definition } from "./definition.ts";
import { nodeEnvironment } from "./environment.ts";
import { stderrLogger } from "./logger.ts";
import type { Logger } from "./logger.ts";
import type { InputOf, OutputOf, Schema } from "./schema.ts";
import { defineTool } from "./tool.ts";
import type { Tool, ToolConfig, ToolHandler } from "./tool.ts";

export type ParleyOptions = Implementation & {
  /** First seals, all open. Default: PARLEY_KEYS. */
  readonly keys?: string | readonly string[] | undefined;
  readonly limits?: Partial<Limits> | undefined;
  readonly logger?: Logger | undefined;
};

export interface App {
  readonly tool: <
    In extends Schema | undefined = undefined,
    Out extends Schema | undefined = undefined,
  >(
    name: string,
    config: ToolConfig<In, Out>,
    handler: ToolHandler<In, Out>,
  ) => Tool<
    In extends Schema ? InputOf<In> : Record<string, never>,
    Out extends Schema ? OutputOf<Out> : undefined
  >;
}

export function parley(options: ParleyOptions): App {
  const definitions = new Map<string, Definition>();
  const core = coreOf(options, definitions);
  return {
    tool: (name, config, handler) => {
      if (definitions.has(name)) throw new TypeError(`Tool "${name}" is registered twice.`);
      const definition = defineTool(name, config, handler);
      definitions.set(name, definition);
      const tool: Tool<never, never> = { kind: "tool", name };
      registered.set(tool, { core, definition });
      return tool;
    },
  };
}

function coreOf(options: ParleyOptions, definitions: ReadonlyMap<string, Definition>): Core {
  let keyring: Keyring | undefined;
  return {
    name: options.name,
    find: (_method, target) => definitions.get(target),
    keyring: () => (keyring ??= keysOf(options)),
    limits: { ...defaultLimits, ...options.limits },
    logger: options.logger ?? stderrLogger,
    environment: nodeEnvironment,
  };
}

function keysOf({ keys = process.env["PARLEY_KEYS"] }: ParleyOptions): Keyring {
  if (keys === undefined) {
    throw new ParleyError(
      "no_keys",
      "No key to seal state with. Set PARLEY_KEYS to the same value on every instance (make one: npx mcp-parley keys new), or pass parley({ keys }).",
    );
  }
  return parseKeys(keys);
}

// ---------------------------------------------------------------- for the test kit

interface Registered {
  readonly core: Core;
  readonly definition: Definition;
}

const registered = new WeakMap<object, Registered>();

/** The app behind a handle, and what was registered under it. */
export function registeredAs(handle: object): Registered {
  const found = registered.get(handle);
  if (found === undefined) throw new TypeError("Not a handle that app.tool() has returned.");
  return found;
}

/** Another instance of the same app: it shares the definitions and what is given here, nothing else. */
export function anotherInstance(
  core: Core,
  own: Pick<Core, "environment" | "logger"> & { readonly keyring: Keyring },
): Core {
  return { ...core, ...own, keyring: () => own.keyring };
}
