// The part that this example needs of what `npx wrangler types` writes.

declare module "cloudflare:workers" {
  import type { Namespace } from "mcp-parley/durable-object";

  export const env: { readonly TASKS: Namespace };
}
