// What the client of a played call holds of its streams, and what was recorded of them. Both must be the same, whatever was
// lost on the way.

import type { ContentBlock } from "@modelcontextprotocol/server";
import { StreamedBlocks } from "../protocol/streamed-blocks.ts";
import { start, StreamedContent, textIn } from "../protocol/streamed-content.ts";
import type { PartContent } from "../protocol/streaming.ts";
import { contentOf } from "../tasks/streams/pieces.ts";
import type { Json } from "../util/json.ts";
import type { InProcessServer, ServedRound } from "./in-process-server.ts";

/** What a client holds of one stream. */
export interface HeldStream {
  /** Its text, joined. */
  readonly text: string;
  /** Its content blocks. Text that follows text is one block. */
  readonly content: readonly ContentBlock[];
}

export class HeldStreams {
  readonly #blocks = new StreamedBlocks(Number.POSITIVE_INFINITY, (read) => void read());
  readonly #recorded = new Map<string, unknown>();
  #cursor: string | undefined;

  /** Takes a round whose response has arrived. */
  round({ response, parts, outcomes }: ServedRound): void {
    for (const part of parts) this.#blocks.take(part);
    if (response.kind === "error" || response.kind === "none") return this.#blocks.drop();
    this.#blocks.keep();
    this.run({ outcomes });
  }

  /** Takes a run of the task. */
  run({ outcomes }: Pick<ServedRound, "outcomes">): void {
    for (const [key, value] of outcomes) this.#recorded.set(key, value);
  }

  /** Reads on in the task, as a client does when the task asks something and when it ends. */
  async read(server: InProcessServer, taskId: string): Promise<void> {
    if (!server.hasStreams) return;
    const reading = await server.tasks.readStreams(taskId, this.#cursor);
    for (;;) {
      const { done, value } = await reading.next();
      if (done === true) {
        this.#cursor = value?.cursor ?? this.#cursor;
        return this.#blocks.keep();
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as it goes on the wire
      this.#blocks.take(value as PartContent);
    }
  }

  readonly streamed = (key: string): HeldStream => {
    const content = this.#blocks.content(key);
    return { text: textIn(content), content };
  };

  /** The streams of which the client holds something else than was recorded. `model` is the same call without a mishap. */
  problems(model: HeldStreams): readonly string[] {
    // A request that was sent twice with `once` runs only once, and only one of the two gets its parts.
    const expected = model.#blocks.names.filter((key) => this.#recorded.has(key));
    return [...new Set([...this.#blocks.names, ...expected])].flatMap((key) => {
      const held = JSON.stringify(this.#blocks.content(key));
      const recorded = JSON.stringify(asHeld(this.#recorded.get(key)));
      if (held === recorded) return [];
      return [`the client holds ${held} of stream "${key}", but ${recorded} was recorded.`];
    });
  }
}

/** A recorded value as a client holds it. */
function asHeld(value: unknown): readonly ContentBlock[] {
  const whole = new StreamedContent();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a stream records text or content blocks
  whole.append(contentOf(value as Json | undefined) as unknown as readonly ContentBlock[]);
  return whole.between(start, whole.end);
}
