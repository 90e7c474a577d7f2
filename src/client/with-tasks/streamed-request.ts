// What one request of a plain client streams, and the task that it may become: each part goes to `onPart`.

import type { JSONRPCRequest, RequestId } from "@modelcontextprotocol/client";
import { partIn } from "../../protocol/streamed-content.ts";
import { streamingExtension } from "../../protocol/streaming.ts";
import type { Members } from "../../util/objects.ts";
import { CallStream } from "../call-stream.ts";
import type { Part } from "../part.ts";

let requests = 0;

export class StreamedRequest {
  readonly token: string;
  readonly stream: CallStream;
  /** The request that waits for the result. Each time its task asks something, another request takes over. */
  id: RequestId;

  constructor(
    id: RequestId,
    mostBytes: number,
    onPart: (part: Part, request: RequestId) => void,
    onError: (error: unknown) => void,
  ) {
    requests += 1;
    this.token = `parley-part-${requests}`;
    this.id = id;
    this.stream = new CallStream(mostBytes, (read) => {
      const part = read();
      if (part === undefined) return;
      try {
        onPart(part, this.id);
      } catch (error) {
        onError(error);
      }
    });
  }

  /** The same request, asking for its parts. */
  asking(request: JSONRPCRequest): JSONRPCRequest {
    const _meta = { ...request.params?._meta, [streamingExtension]: { token: this.token } };
    return { ...request, params: { ...request.params, _meta } };
  }

  take(params: Members): void {
    const part = partIn(params);
    if (part !== undefined) this.stream.take(part);
  }
}
