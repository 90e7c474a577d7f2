// A function behind an HTTP gateway: an event comes in, one whole response goes out.

import type { App } from "mcp-parley";

interface Event {
  readonly rawPath: string;
  readonly headers: Record<string, string>;
  readonly requestContext: { readonly http: { readonly method: string } };
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** The code that an author writes in the function's file. */
const lambda =
  (app: App) =>
  async (event: Event): Promise<Answer> => {
    const { rawPath, headers, requestContext, body, isBase64Encoded } = event;
    const request = new Request(`https://${headers["host"]}${rawPath}`, {
      method: requestContext.http.method,
      headers,
      ...(body === undefined ? {} : { body: isBase64Encoded ? Buffer.from(body, "base64") : body }),
    });
    const response = await app.fetch(request);
    return {
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    };
  };

/** The gateway: it turns a request into an event, and the function's return value into a response. */
export function invokedAsLambda(app: App): typeof fetch {
  const handler = lambda(app);
  return async (input, init) => {
    const request = new Request(input, init);
    const { host, pathname } = new URL(request.url);
    const body = Buffer.from(await request.arrayBuffer());
    const event: Event = {
      rawPath: pathname,
      headers: { ...Object.fromEntries(request.headers), host },
      requestContext: { http: { method: request.method } },
      ...(body.length === 0 ? {} : { body: body.toString("base64") }),
      isBase64Encoded: true,
    };
    const { statusCode, headers, body: text } = await handler(event);
    return new Response(text, { status: statusCode, headers });
  };
}
