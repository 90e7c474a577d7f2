// Texts that a client, a person or an author's data controls, in the console of a real browser: they are shown, and are
// nothing else than text, wherever they stand.

import { memoryStore, parley } from "mcp-parley";
import { operatorConsole } from "mcp-parley/console";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { by, named } from "../console/callers.ts";
import { keys, quiet } from "../interop/errands.ts";
import { patience } from "../patience.ts";
import { begun, call, until } from "../wire/task-calls.ts";
import { openBrowser } from "./chromium.ts";
import { goTo, withPage } from "./console-tools.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

/** What each place gets, so that the test sees which one made an element of it. */
const hostile = (place: string): string =>
  `${place}</script></textarea><img src=x onerror="globalThis.pwned='${place}'"><a href="javascript:globalThis.pwned='${place}'">${place}</a>`;

/** Elements that only a text could have made, and what they have done. */
const foundIn = (page: Page): Promise<unknown> =>
  page.evaluate(() => {
    const made = document.querySelectorAll(
      "body img, body script, body iframe, body object, a[href^='javascript' i], [onerror]",
    );
    return [...made]
      .map(({ outerHTML }) => outerHTML)
      .concat(String(Reflect.get(globalThis, "pwned")));
  });
const nothing = ["undefined"];

test("hostile texts in every field are shown as texts on every screen", async () => {
  const app = parley({
    name: "shop",
    version: "1.0.0",
    keys,
    logger: quiet,
    ...named,
    principal: ({ extra }) => hostile(String(extra?.["sub"])),
    store: memoryStore(),
  });
  const tickets: string[] = [];
  const Order = z.object({ item: z.string().meta({ title: hostile("field") }) });
  app.tool(
    "order",
    { description: hostile("description"), inputSchema: Order, task: "required" },
    async ({ item }, ctx) => {
      await ctx.background();
      await ctx.step("read", () => ({ [hostile("member")]: hostile("value") }));
      await ctx
        .step("fail", () => Promise.reject(new TypeError(hostile("error"))))
        .catch(() => undefined);
      ctx.progress(1, 2, hostile("status"));
      await ctx.approve(hostile("key"), `Order ${item}? ${hostile("message")}`, {
        by: hostile("group"),
        of: 2,
        about: { [hostile("name")]: hostile("about") },
        notify: ({ ticket }) => void tickets.push(ticket),
      });
      return hostile("result");
    },
  );
  app.tool("quick", { inputSchema: Order }, async ({ item }, ctx) =>
    JSON.stringify(await ctx.ask("q", `Really ${item}?`, Order)),
  );
  const groups = [hostile("group")];
  const ada = { who: hostile("operator"), principal: "ada", groups, values: true };
  const { url } = await app.listen(0, {
    console: operatorConsole(app, { authorize: () => ({ ...ada, may: "act_for_client" }) }),
  });
  const at = new URL("/console/", url).href;
  try {
    const id = await begun(app, "order", { item: hostile("argument") }, by("caller"));
    await vi.waitFor(() => expect(tickets).toHaveLength(1), patience);
    const asked = await call(app, "quick", { item: hostile("argument") }, by("caller"));
    expect(asked.result).toHaveProperty("requestState");
    await withPage(browser, {}, async (page) => {
      await goTo(page, at, "#/inbox");
      const card = page.getByRole("article").filter({ hasText: "message</script>" });
      await card.getByText("about</script>").waitFor();
      await card.getByRole("button", { name: "Approve…" }).click();
      await card.getByRole("textbox").fill(hostile("note"));
      expect(await foundIn(page)).toEqual(nothing);
      await card.getByRole("button", { name: "Approve", exact: true }).click();
      await card.getByText("Your decision counts.").waitFor();
      await page.getByText("Group", { exact: true }).first().click();
      expect(await foundIn(page)).toEqual(nothing);

      await goTo(page, at, "#/tasks");
      await page.getByText("caller</script>").first().waitFor();
      expect(await foundIn(page)).toEqual(nothing);

      await goTo(page, at, `#/tasks/${id}`);
      for (const [name, shown] of [
        ["read", "value</script>"],
        ["fail", "error</script>"],
        [/^key/, "group</script>"],
      ] as const) {
        await page.getByRole("option", { name }).last().click();
        const details = page.getByRole("complementary", { name: "The selected entry" });
        await details.getByText(shown).first().waitFor();
        expect(await foundIn(page)).toEqual(nothing);
      }
      await page.getByRole("button", { name: "As a table" }).click();
      await page.getByRole("region", { name: "Audit record" }).getByText("note</script>").waitFor();
      await page.getByRole("button", { name: "Cancel the task" }).click();
      expect(await foundIn(page)).toEqual(nothing);
      await page.getByRole("button", { name: "Go back" }).click();

      await app.decide(tickets[0] ?? "", { who: "bo", groups, approve: true });
      await until(app, id, "completed", by("caller"));
      await page.getByText("result</script>").waitFor();
      expect(await foundIn(page)).toEqual(nothing);

      await goTo(page, at, "#/health");
      await page.getByRole("region", { name: "Audit record" }).getByText("note</script>").waitFor();
      expect(await foundIn(page)).toEqual(nothing);

      await goTo(page, at, "#/calls");
      await page.getByRole("link", { name: "quick" }).click();
      await page.getByText("argument</script>").first().waitFor();
      expect(await foundIn(page)).toEqual(nothing);

      await goTo(page, at, "#/try?tool=order");
      await page.getByText("description</script>").waitFor();
      expect(await foundIn(page)).toEqual(nothing);

      // What stands in the address is a text as well.
      const text = encodeURIComponent(hostile("address"));
      for (const place of [
        `#/tasks/${text}`,
        `#/calls/${text}`,
        `#/tasks?tool=${text}&principal=${text}`,
        `#/inbox?group=${text}&tool=${text}`,
        `#/try?tool=${text}`,
        `#/${text}`,
      ]) {
        await goTo(page, at, place);
        expect([place, await foundIn(page)]).toEqual([place, nothing]);
      }
    });
  } finally {
    await app.close();
  }
});
