// What AWS Lambda passes to a function for an HTTP request, as a web-standard Request, and the way back. It is the payload
// format 2.0, which function URLs and HTTP APIs of API Gateway use.

/** The part of the event that is used here. */
export interface HttpEvent {
  readonly rawPath: string;
  readonly rawQueryString: string;
  /** Headers that came more than once are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies?: readonly string[];
  readonly requestContext: {
    readonly domainName: string;
    readonly http: { readonly method: string };
  };
  readonly body?: string;
  readonly isBase64Encoded: boolean;
}

/** The part of the context that is used here. */
export interface Context {
  readonly getRemainingTimeInMillis: () => number;
}

/** The status and the headers of a response. Cookies have a place of their own, because each needs a header line. */
export interface HttpHead {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

export interface HttpResult extends HttpHead {
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

export function requestOf(event: HttpEvent, signal: AbortSignal): Request {
  const { rawPath, rawQueryString, requestContext, cookies } = event;
  const { method } = requestContext.http;
  const url = new URL(`https://${requestContext.domainName}${rawPath}`);
  url.search = rawQueryString;
  const headers = new Headers(event.headers);
  if (cookies !== undefined) headers.set("cookie", cookies.join("; "));
  const hasBody = event.body !== undefined && method !== "GET" && method !== "HEAD";
  return new Request(url, {
    method,
    headers,
    signal,
    ...(hasBody && { body: Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8") }),
  });
}

/**
 * Passes on a signal two seconds before the function would be stopped, so that a long stream ends properly. The timer also
 * keeps the function alive while a stream is open and nothing happens.
 */
export async function inTime<T>(
  context: Context,
  serve: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), context.getRemainingTimeInMillis() - 2_000);
  try {
    return await serve(ending.signal);
  } finally {
    clearTimeout(timer);
  }
}

export function headOf({ status, headers }: Response): HttpHead {
  const others = [...headers].filter(([name]) => name !== "set-cookie");
  return {
    statusCode: status,
    headers: Object.fromEntries(others),
    cookies: headers.getSetCookie(),
  };
}

/** The whole response at once. Only text passes as it is; other bytes travel as base64. */
export async function resultOf(response: Response): Promise<HttpResult> {
  const body = Buffer.from(await response.arrayBuffer());
  const type = response.headers.get("content-type") ?? "";
  const isBase64Encoded = !/^(?:text\/|application\/json\b)/.test(type);
  return {
    ...headOf(response),
    body: body.toString(isBase64Encoded ? "base64" : "utf8"),
    isBase64Encoded,
  };
}
