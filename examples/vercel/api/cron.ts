import { app } from "../app.js";

// Vercel sends CRON_SECRET with each call of a cron job. Nobody else may start one.
export default {
  fetch: async (request: Request): Promise<Response> => {
    const secret = process.env["CRON_SECRET"];
    const isVercel = request.headers.get("authorization") === `Bearer ${secret}`;
    if (secret === undefined || !isVercel) return new Response("Unauthorized", { status: 401 });
    return Response.json(await app.runDue({ budgetMs: 55_000 }));
  },
};
