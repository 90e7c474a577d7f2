// `parley prompt` and `parley read`: what a server offers besides tools, with the questions it asks.

import { expect, onTestFinished, test } from "vitest";
import { deskUrl, emptyFolder, parley, read } from "./run.ts";
import { keys, parleyOnScreen } from "./screen.ts";

test("prompt: prints the messages, and asks for what is not given", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  const args = ["prompt", url, "review", "file=a.ts"];
  expect(await parley(args, { cwd })).toMatchObject({
    code: 6,
    stdout: "? what (form) For what?\n    what: text\nRun the command again with --answer what=…\n",
  });
  expect(await parley([...args, "--answer", "what=speed"], { cwd })).toEqual({
    code: 0,
    stdout: "user: Review a.ts for speed.\n",
    stderr: "",
  });
  const { stdout } = await parley([...args, "--answer", "what=speed", "--json"], { cwd });
  expect(read(stdout)).toMatchObject({
    status: "done",
    result: { messages: [{ role: "user", content: { type: "text" } }] },
  });
});

test("prompt: names what is wrong on the command line", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  const said = async (...words: string[]) => {
    const { code, stderr } = await parley(["prompt", url, ...words], { cwd });
    expect(code).toBe(2);
    return stderr;
  };
  expect(await said()).toContain(
    `No prompt was given. To see the prompts of the server, run: parley list ${url}\n`,
  );
  expect(await said("reveiw")).toContain(`has no prompt "reveiw". Did you mean "review"?`);
  expect(await said("review")).toContain("The prompt needs file. Add file=…");
  expect(await said("review", "fil=a")).toContain(`has no argument "fil". Did you mean "file"?`);
});

test("read: prints text without what a terminal would obey, and asks", async () => {
  const cwd = emptyFolder();
  const url = await deskUrl();
  const args = ["read", url, "menu://today"];
  expect((await parley(args, { cwd })).code).toBe(6);
  const json = await parley([...args, "--json"], { cwd });
  expect(read(json.stdout)).toMatchObject({ status: "inputNeeded", questions: [{ key: "vegan" }] });
  expect(await parley([...args, "--answer", "vegan=true"], { cwd })).toMatchObject({
    code: 0,
    stdout: "today: soup\n",
  });
  expect((await parley(["read", url], { cwd })).code).toBe(2);
  expect((await parley(["read", url, "menu:/none"], { cwd })).code).toBe(1);
});

test("at a terminal, the person is asked", async () => {
  const url = await deskUrl();
  const screen = parleyOnScreen(["read", url, "menu://today"], { cwd: emptyFolder() });
  onTestFinished(() => screen.kill("SIGKILL"));
  await screen.shows(/Vegan only\?\n.*● Yes/);
  screen.press(keys.down, keys.enter);
  expect(await screen.ended).toBe(0);
  expect(screen.text()).toMatch(/today: cake$/);
});
