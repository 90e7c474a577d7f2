// What a server offers, page by page.

import type { Prompt, Resource, ResourceTemplateType, Tool } from "@modelcontextprotocol/client";
import type { Connection } from "../client/index.ts";

const mostPages = 100;

async function all<T>(
  page: (cursor: string | undefined) => Promise<{
    readonly items: readonly T[];
    readonly nextCursor: string | undefined;
  }>,
): Promise<readonly T[]> {
  const found: T[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const { items, nextCursor } = await page(cursor);
    found.push(...items);
    if (nextCursor === undefined || nextCursor === cursor) break;
    cursor = nextCursor;
  }
  return found;
}

const at = (cursor: string | undefined) => (cursor === undefined ? undefined : { cursor });

export async function toolsOf({ sdk }: Connection): Promise<readonly Tool[]> {
  if (sdk.getServerCapabilities()?.tools === undefined) return [];
  return all(async (cursor) => {
    const { tools: items, nextCursor } = await sdk.listTools(at(cursor));
    return { items, nextCursor };
  });
}

export async function promptsOf({ sdk }: Connection): Promise<readonly Prompt[]> {
  if (sdk.getServerCapabilities()?.prompts === undefined) return [];
  return all(async (cursor) => {
    const { prompts: items, nextCursor } = await sdk.listPrompts(at(cursor));
    return { items, nextCursor };
  });
}

export async function resourcesOf({ sdk }: Connection): Promise<{
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplateType[];
}> {
  if (sdk.getServerCapabilities()?.resources === undefined) return { resources: [], templates: [] };
  const resources = await all(async (cursor) => {
    const { resources: items, nextCursor } = await sdk.listResources(at(cursor));
    return { items, nextCursor };
  });
  // Not every server that has resources has these.
  const templates = await all(async (cursor) => {
    const { resourceTemplates: items, nextCursor } = await sdk.listResourceTemplates(at(cursor));
    return { items, nextCursor };
  }).catch(() => []);
  return { resources, templates };
}
