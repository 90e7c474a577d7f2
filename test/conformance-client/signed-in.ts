// The OAuth scenarios. The SDK does the work; its user has to pass on the code from the sign-in page and to try again,
// a limited number of times.

import {
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { connect } from "../../src/client/index.ts";
import type { Connection, ConnectOptions } from "../../src/client/index.ts";
import { given, scenario, url } from "./environment.ts";
import { Robot } from "./robot.ts";

const mostPages = 2;

export async function signedIn(era: ConnectOptions): Promise<void> {
  const provider = providerFor();
  let pages = 0;
  let transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });

  /** Runs the work, and again after each sign-in page. */
  async function through<T>(act: () => Promise<T>, before?: () => void): Promise<T> {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        pages += 1;
        const isPage = error instanceof UnauthorizedError && provider instanceof Robot;
        if (!isPage || pages > mostPages) throw error;
        await transport.finishAuth(provider.callback);
        before?.();
      }
    }
  }

  const connection = await through<Connection>(
    () => connect(transport, era),
    () => {
      transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    },
  );
  try {
    const { tools } = await through(() => connection.sdk.listTools());
    for (const { name } of tools) await through(() => connection.call(name, {}));
  } finally {
    await connection.close();
  }
}

function providerFor(): OAuthClientProvider {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = given;
  const issuer = given.issuer === undefined ? {} : { expectedIssuer: given.issuer };
  if (clientId === undefined) return new Robot(undefined, scenario.startsWith("auth/dpop"));
  if (privateKey !== undefined) {
    const algorithm = given.signing_algorithm ?? "ES256";
    return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm, ...issuer });
  }
  const isRegistered = scenario === "auth/pre-registration";
  if (clientSecret !== undefined && !isRegistered) {
    return new ClientCredentialsProvider({ clientId, clientSecret, ...issuer });
  }
  const registered = {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    ...(given.issuer === undefined ? {} : { issuer: given.issuer }),
  };
  return new Robot(registered, false);
}
