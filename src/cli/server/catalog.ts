// What a server offers, page by page. It sends plain requests, because the SDK's own list methods read up to 64 pages
// of any size, and print text from the server as a warning.

import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import type { Connection } from "../../client/index.ts";

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string | undefined;
}

/** Limits, because a server may never send a last page. */
const mostPages = 50;
const mostEntries = 10_000;

async function all<T>(
  page: (params: { cursor?: string }) => Promise<Page<T>>,
): Promise<readonly T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages && found.length < mostEntries; pages += 1) {
    const { items, nextCursor } = await page(cursor === undefined ? {} : { cursor });
    found.push(...items.slice(0, mostEntries - found.length));
    if (nextCursor === undefined || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return found;
}

/** The tools of a server. */
export async function toolsOf({ sdk }: Connection): Promise<readonly Tool[]> {
  if (sdk.getServerCapabilities()?.tools === undefined) return [];
  return all(async (params) => {
    const { tools: items, nextCursor } = await sdk.request({ method: "tools/list", params });
    return { items, nextCursor };
  });
}

/** The prompts of a server. */
export async function promptsOf({ sdk }: Connection): Promise<readonly Prompt[]> {
  if (sdk.getServerCapabilities()?.prompts === undefined) return [];
  return all(async (params) => {
    const { prompts: items, nextCursor } = await sdk.request({ method: "prompts/list", params });
    return { items, nextCursor };
  });
}

/** The resources and resource templates of a server. */
export async function resourcesOf({ sdk }: Connection): Promise<{
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
}> {
  if (sdk.getServerCapabilities()?.resources === undefined) return { resources: [], templates: [] };
  const resources = await all(async (params) => {
    const method = "resources/list";
    const { resources: items, nextCursor } = await sdk.request({ method, params });
    return { items, nextCursor };
  });
  // A server can have resources without supporting this request.
  const templates = await all(async (params) => {
    const method = "resources/templates/list";
    const { resourceTemplates: items, nextCursor } = await sdk.request({ method, params });
    return { items, nextCursor };
  }).catch(() => []);
  return { resources, templates };
}
