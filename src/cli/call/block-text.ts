// A block of content as text.

import type { ContentBlock } from "@modelcontextprotocol/client";
import { plain, plainJson, plainLine } from "../screen/plain.ts";

/** A block of content as text. */
export function blockText(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return plain(block.text);
    case "image":
    case "audio":
      return `[${block.type}, ${plainLine(block.mimeType)}, ${Math.floor((block.data.length * 3) / 4)} bytes]`;
    case "resource_link":
      return `[${plainLine(block.name)}] ${plainLine(block.uri)}`;
    case "resource":
      return "text" in block.resource
        ? plain(block.resource.text)
        : `[${plainLine(block.resource.uri)}]`;
    default:
      return plainJson(block);
  }
}
