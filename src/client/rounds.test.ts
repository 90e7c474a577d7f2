// Rounds over real HTTP, whose questions are answered by handlers.

import { afterEach, describe, expect, test } from "vitest";
import { failure } from "./failure.fixture.ts";
import { errands, keys } from "../../test/interop/errands.ts";
import { connect } from "./index.ts";
import type { Connection, ConnectOptions, OpenQuestion } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function served(options: ConnectOptions = {}, done: string[] = []): Promise<Connection> {
  const { app } = errands({ keys }, done);
  const { url } = await app.listen(0);
  open.push(() => app.close());
  const connection = await connect(url, options);
  open.push(() => connection.close());
  return connection;
}

const asked: OpenQuestion[] = [];
const people: ConnectOptions = {
  elicit: (question) => {
    asked.push(question);
    if (question.kind === "url") return { action: "accept" };
    if (question.key === "who") return { action: "accept", content: { name: "Ada", seats: 2 } };
    const [name, field] = Object.entries(question.schema.properties)[0] ?? [];
    if (name === undefined) return { action: "accept" };
    const choice = field?.type === "string" ? field.enum?.[0] : undefined;
    return { action: "accept", content: { [name]: choice ?? "Ada" } };
  },
  sample: () => ({
    role: "assistant",
    content: { type: "text", text: "onwards" },
    model: "m",
    stopReason: "endTurn",
  }),
  roots: [{ uri: "file:///home/ada" }],
};

describe("with handlers", () => {
  test("five questions of five kinds lead to a result, and every step runs once", async () => {
    const done: string[] = [];
    const connection = await served(people, done);
    expect(connection.era).toBe("2026-07-28");
    expect(connection.server.name).toBe("errands");
    const { text, data } = await connection.call("book_trip", { to: "Rome" });
    expect(text).toBe("Ada, 2 seats, Train, booked, “onwards”, filed in file:///home/ada");
    expect(data).toBeUndefined();
    expect(done).toEqual(["search", "hold", "price", "book", "print", "file"]);
  });

  test("a round without questions is retried after a pause", async () => {
    const done: string[] = [];
    const connection = await served({}, done);
    expect((await connection.call("import_rows")).text).toBe("imported");
    expect(done).toEqual(["first half", "second half"]);
  });

  test("a page is shown with its host, and is not opened [C44]", async () => {
    asked.length = 0;
    const connection = await served(people);
    expect((await connection.call("sign_in")).text).toBe("signed in");
    expect(asked).toMatchObject([{ kind: "url", host: "example.com", isPunycode: false }]);
  });

  test("prompts and resources can ask, too", async () => {
    const connection = await served(people);
    const { messages } = await connection.prompt("letter", { tone: "kind" });
    expect(messages).toMatchObject([{ content: { text: "Write a kind letter to Ada." } }]);
    const { contents } = await connection.read("diary://today");
    expect(contents).toMatchObject([{ text: "a good day" }]);
  });
});

describe("without handlers", () => {
  test("the error says that the server asks a question, and how to answer it", async () => {
    const connection = await served();
    const error = await failure(connection.call("sign_in"));
    expect(error).toMatchObject({ name: "CallError", code: "capability_missing" });
    expect(error.message).toContain('{"elicitation":{"url":{}}}');
    expect(error.message).toContain('"sign_in" cannot ask question "page"');
    expect(error.message).toMatch(/\. Pass connect\(\) an `elicit` handler\.$/);
  });

  test('"events" without start() fails closed, and the error contains the question [G20]', async () => {
    const connection = await served({ elicit: "events" });
    const error = await failure(connection.call("sign_in"));
    expect(error.code).toBe("unhandled_question");
    expect(error.question).toMatchObject({ kind: "url", key: "page", message: "Sign in" });
    expect(error.message).toContain("start()");
  });

  test("a handler that throws ends the call with its reason and a reference [C30] [G12]", async () => {
    const elicit = () => {
      throw new Error("no terminal");
    };
    const connection = await served({ elicit });
    const error = await failure(connection.call("sign_in"));
    expect(error.code).toBe("handler_failed");
    expect(error.message).toContain("no terminal");
    const again = connection.resume(error.ref ?? "");
    await expect(again.result()).rejects.toMatchObject({ code: "handler_failed" });
  });
});
