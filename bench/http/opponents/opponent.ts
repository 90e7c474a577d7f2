// One of the servers that are compared, on a port of the loopback address.

import { once } from "node:events";
import type { Server } from "node:http";

interface Opponent {
  readonly port: number;
  /** What the benchmark gives it before it is measured. */
  readonly tell?: ((what: unknown) => void) | undefined;
}

export type Start = () => Promise<Opponent>;

export const implementation = { name: "bench", version: "1.0.0" };

export async function listening(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return portOf(server);
}

export function portOf(server: Pick<Server, "address">): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  return address.port;
}
