// The parts of tmcp that are used here, typed by hand, because its declarations do not compile without `skipLibCheck`.

import type { z } from "zod";

interface ToolDefinition<S extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly schema: S;
  /** Whatever comes before a question may run again. */
  readonly replayable?: boolean;
}

interface TextResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
}

export interface TmcpServer {
  readonly tool: <S extends z.ZodType>(
    definition: ToolDefinition<S>,
    execute: (input: z.output<S>) => Promise<TextResult>,
  ) => void;
  readonly elicitation: <S extends z.ZodType>(
    message: string,
    schema: S,
    options: { readonly key: string },
  ) => Promise<{ readonly action: string; readonly content?: z.output<S> }>;
}

interface Tmcp {
  readonly McpServer: new (info: object, options: object) => TmcpServer;
  readonly ZodJsonSchemaAdapter: new () => object;
  readonly HttpTransport: new (
    server: TmcpServer,
    options: { readonly path: string },
  ) => { readonly respond: (request: Request) => Promise<Response | null> };
}

const names: readonly string[] = ["tmcp", "@tmcp/adapter-zod", "@tmcp/transport-http"];
const modules: readonly object[] = await Promise.all(names.map((name) => import(name)));

export const tmcp: Tmcp = Object.assign({}, ...modules);
