// Three weather tools: one asks who wants to know (the MRTR proposal), one may take long or fail (the response types), and
// one asks for units in the low-level form (the C# SDK's page). Older clients receive the same question as a request.

import { acceptedContent } from "@modelcontextprotocol/server";
import { inputRequired } from "mcp-parley";
import type { App } from "mcp-parley";
import { z } from "zod";

const report = (place: string, temperature: string) =>
  `Current weather in ${place}:\nTemperature: ${temperature}\nConditions: Partly cloudy`;

const Login = z.object({ name: z.string() });

export const weather = (app: App) =>
  app.tool(
    "get_weather",
    { description: "The weather", inputSchema: z.object({ location: z.string() }) },
    async ({ location }, ctx) => {
      await ctx.ask("github_login", "Please provide your GitHub username", Login);
      return report(location, "72°F");
    },
  );

/** How the call goes: in the background, in parts, after a question, or with a failure. By default it succeeds at once. */
export interface Day {
  readonly isSlow?: boolean;
  readonly streams?: boolean;
  readonly asks?: boolean;
  readonly isDown?: boolean;
}

export const cityWeather = (app: App, { isSlow, streams, asks, isDown }: Day) =>
  app.tool(
    "get_weather",
    { description: "The weather", inputSchema: z.object({ city: z.string() }), task: "optional" },
    async ({ city }, ctx) => {
      if (isSlow) await ctx.background({ ttlMs: 60_000 });
      ctx.progress(1, undefined, "The operation is now in progress.");
      if (asks) await ctx.ask("name", "Please provide your GitHub username", Login);
      if (isDown) throw new Error(`Error: Unable to retrieve weather data for ${city}.`);
      if (streams) return ctx.stream("report", () => lines(report(city, "72° F")));
      return report(city, "72° F");
    },
  );

async function* lines(text: string) {
  yield* text.split(/(?<=\n)/);
}

const Units = z.object({ units: z.string() });

export const weatherInUnits = (app: App) =>
  app.tool(
    "get_weather",
    {
      description: "The weather, in units of your choice",
      inputSchema: z.object({ location: z.string() }),
    },
    ({ location }, ctx) => {
      const answer = acceptedContent(ctx.answers, "units", Units);
      if (answer !== undefined) return `Weather for ${location} in ${answer.units}: 72°`;
      return inputRequired({
        inputRequests: {
          units: inputRequired.elicit({
            message: "Which temperature units?",
            requestedSchema: Units,
          }),
        },
        state: "awaiting-units",
      });
    },
  );
