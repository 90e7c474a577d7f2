// The five documents, in the order of their numbers.

import type { Row } from "./row.ts";
import { messageStructure } from "./000.ts";
import { proposal } from "./001.ts";
import { tutorial } from "./002.ts";
import { responseTypes } from "./003.ts";
import { csharpPage } from "./004.ts";

export const documents: readonly {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
}[] = [
  { name: "000", title: "MRTR And Tasks Message Structure Proposal", rows: messageStructure },
  { name: "001", title: "SEP-XXXX: Multi Round-Trip Requests (MRTR)", rows: proposal },
  { name: "002", title: "MRTR Tutorial (mcpkit)", rows: tutorial },
  { name: "003", title: "Overview (response types)", rows: responseTypes },
  { name: "004", title: "Multi Round-Trip Requests (C# SDK)", rows: csharpPage },
];
