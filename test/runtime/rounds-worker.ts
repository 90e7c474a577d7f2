// The smoke app as a Worker that keeps nothing: calls only ask, and their state travels with the client.

import { smokeApp } from "./smoke-app.ts";

const app = smokeApp();

// oxlint-disable-next-line import/no-default-export -- the form of a Worker
export default { fetch: app.fetch };
