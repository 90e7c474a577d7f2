import { waitUntil } from "@vercel/functions";
import { app } from "../app.js";

// Tasks that a request has created or answered run after its response, while Vercel keeps the instance.
export default { fetch: (request: Request) => app.fetch(request, { waitUntil }) };
