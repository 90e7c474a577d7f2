import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { referenceTo } from "../../client/reference.ts";
import { emptyFolder } from "../folder.fixture.ts";
import { Calls, JournalError, unfinished } from "./calls.ts";
import { OwnMark } from "./own-mark.ts";
import { readReference, referenceAt, shortId } from "./reference.ts";

const ownMark = (home = emptyFolder()) => new OwnMark({ XDG_CONFIG_HOME: home });

const state = {
  id: "0badcafe-0000-4000-8000-000000000000",
  target: "http://x.example/mcp",
  since: 1,
  method: "tools/call" as const,
  name: "t",
  rounds: 1,
  stateRounds: 0,
  questions: new Map(),
  answers: new Map(),
  isLegacy: false,
};

describe("references", () => {
  test("name the server, without its secrets", () => {
    const text = referenceAt(
      { kind: "url", url: "https://u:p@x.example/mcp?key=1" },
      referenceTo(state),
    );
    const read = readReference(text);
    expect(read.target).toEqual({ kind: "url", url: "https://x.example/mcp" });
    expect(shortId(read.state)).toBe("0badcafe");
    expect(readReference(referenceTo(state)).target).toEqual({
      kind: "url",
      url: "http://x.example/mcp",
    });
    expect(readReference(referenceTo({ ...state, target: "stdio node x" })).target).toBeUndefined();
  });

  test.each(["", "at1.", "at1.e30.parley1.e30", "parley1.x", "at1.e30", "at2.x.y"])(
    "%j is not a reference",
    (text) => {
      expect(() => readReference(text)).toThrow("This is not a complete reference to a call");
    },
  );

  test("a forged target is refused", () => {
    const ref = referenceTo(state);
    for (const target of [
      {},
      { kind: "file", file: 1, cwd: "/" },
      { kind: "url", url: "x" },
      { kind: "command", command: "x", args: [1], cwd: "/" },
    ]) {
      const where = Buffer.from(JSON.stringify(target)).toString("base64url");
      expect(() => readReference(`at1.${where}.${ref}`)).toThrow(
        "This is not a complete reference to a call",
      );
    }
  });
});

describe("the journal", () => {
  test("keeps the newest reference, and warns once when it no longer can", async () => {
    const folder = join(emptyFolder(), "calls");
    const warnings: string[] = [];
    const calls = new Calls(
      { kind: "url", url: state.target },
      folder,
      (text) => warnings.push(text),
      ownMark(),
    );
    await calls.put(state.id, referenceTo(state));
    expect(calls.kept).toBe(`0badcafe --journal ${folder}`);
    expect(await unfinished(folder, ownMark())).toMatchObject([{ state: { name: "t" } }]);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    await calls.put(state.id, referenceTo({ ...state, rounds: 2 }));
    await calls.put(state.id, referenceTo({ ...state, rounds: 3 }));
    expect(warnings).toEqual([expect.stringContaining("can no longer be saved")]);
    expect(calls.kept).toBeUndefined();
    expect(readReference(calls.last ?? "").state.rounds).toBe(3);
  });

  test("refuses to begin a call that it cannot keep", async () => {
    const file = join(emptyFolder(), "file");
    writeFileSync(file, "");
    const calls = new Calls({ kind: "url", url: state.target }, file, () => {}, ownMark());
    await expect(calls.put(state.id, referenceTo(state))).rejects.toBeInstanceOf(JournalError);
  });
});

describe("the mark of a person's own calls", () => {
  const text = referenceAt({ kind: "url", url: state.target }, referenceTo(state));

  test("is recognised only by the same person", () => {
    const home = emptyFolder();
    const marked = ownMark(home).mark(text);
    expect(ownMark(home).unmark(marked)).toEqual({ text, isOwn: true });
    expect(ownMark().unmark(marked)).toEqual({ text, isOwn: false });
    expect(ownMark(home).unmark(text)).toEqual({ text, isOwn: false });
    const changed = marked.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
    expect(ownMark(home).unmark(changed).isOwn).toBe(false);
  });

  test("no longer counts once other users can read the key, and a new key is made", () => {
    const home = emptyFolder();
    const marked = ownMark(home).mark(text);
    const file = join(home, "parley/journal-key");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o644);
    expect(ownMark(home).unmark(marked).isOwn).toBe(false);
    expect(ownMark(home).unmark(ownMark(home).mark(text)).isOwn).toBe(true);
    expect(ownMark(home).unmark(marked).isOwn).toBe(false);
  });

  test("is left out if the folder cannot be written to", () => {
    const home = join(emptyFolder(), "file");
    writeFileSync(home, "");
    expect(ownMark(home).mark(text)).toBe(text);
  });
});
