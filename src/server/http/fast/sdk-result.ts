// A handler's result in the form that the official SDK would send.

import { specTypeSchemas } from "@modelcontextprotocol/server";
import { isChecked, isTextBlock } from "../../define/checked-result.ts";
import type { WireResult } from "../../define/definition.ts";
import { isObject } from "../../../util/objects.ts";

/** The result of a tool. Undefined if the SDK would refuse it, or add something to it. */
export function toolResult(result: WireResult): WireResult | undefined {
  if (isPlain(result)) return result;
  if (result.structuredContent !== undefined && !isObject(result.structuredContent))
    return undefined;
  if (isChecked(result)) return result;
  if (!Array.isArray(result.content)) return undefined;
  const checked = specTypeSchemas.CallToolResult["~standard"].validate(result);
  if (checked instanceof Promise || checked.issues !== undefined) return undefined;
  return { ...checked.value };
}

/** Most results are plain texts, which can be checked without the SDK's schema. */
function isPlain({ content, isError, structuredContent, _meta, resultType }: WireResult): boolean {
  return (
    _meta === undefined &&
    resultType === undefined &&
    (isError === undefined || typeof isError === "boolean") &&
    (structuredContent === undefined || isObject(structuredContent)) &&
    Array.isArray(content) &&
    content.every(isTextBlock)
  );
}

/** Adds how long the result may be cached: as the result says, else as the registration says, else not at all. */
export function cacheable(result: WireResult, hint: unknown): WireResult {
  if (result["resultType"] !== undefined && result["resultType"] !== "complete") return result;
  const registered = isObject(hint) ? hint : {};
  return {
    ...result,
    ttlMs: [result["ttlMs"], registered["ttlMs"]].find(isTtl) ?? 0,
    cacheScope: [result["cacheScope"], registered["cacheScope"]].find(isScope) ?? "private",
  };
}

const isTtl = (value: unknown): boolean =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const isScope = (value: unknown): boolean => value === "public" || value === "private";
