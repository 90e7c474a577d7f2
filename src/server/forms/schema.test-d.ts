// Checked by `tsc` alone: a type that is not the one expected, or an unused @ts-expect-error, is an error.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import type {
  AnswerOf,
  Askable,
  FormField,
  FormJson,
  InputOf,
  Json,
  OutputOf,
  Schema,
  Stored,
} from "./schema.ts";

type Equal<A, B> =
  (<T>(value: T) => T extends A ? 1 : 2) extends <T>(value: T) => T extends B ? 1 : 2
    ? true
    : false;
type Expect<T extends true> = T;

declare const ask: {
  (key: string, message: string): Promise<string>;
  <const S extends Schema | FormJson>(
    key: string,
    message: string,
    schema: S & Askable<S>,
  ): Promise<AnswerOf<S>>;
};

declare const region: "eu" | "us";

// ---------------------------------------------------------------- what a question gives

export async function answers() {
  const line = await ask("k", "?");
  const choice = await ask("k", "?", z.enum(["Fixed", "Duplicate"]));
  const whole = await ask("k", "?", z.int().positive());
  const text = await ask("k", "?", z.string().nullable());
  const parsed = await ask("k", "?", z.string().transform(Number));
  const several = await ask("k", "?", z.array(z.enum(["a", "b"])));
  const computed = await ask("k", "?", z.array(z.enum([region])));
  // The types cannot tell free text from computed choices, so this compiles and is refused when asked.
  const free = await ask("k", "?", z.array(z.string()));
  const object = await ask(
    "k",
    "?",
    z.object({
      name: z.string(),
      nick: z.string().optional(),
      age: z.int().default(18),
      note: z.string().nullable(),
    }),
  );
  const ark = await ask("k", "?", type({ name: "string", "size?": "'S' | 'M'", n: "number = 3" }));
  const arkChoice = await ask("k", "?", type("'b' | 'a'"));
  const vali = await ask(
    "k",
    "?",
    toStandardJsonSchema(v.object({ a: v.string(), b: v.optional(v.number(), 3) })),
  );
  const plain = await ask("k", "?", fromJsonSchema<{ city: string }>({ type: "object" }));
  const unknown = await ask("k", "?", fromJsonSchema({ type: "object" }));
  const any = await ask("k", "?", z.any());
  const literal = await ask("k", "?", {
    type: "object",
    properties: {
      how: { type: "string", enum: ["Fixed", "Duplicate"] },
      where: { type: "string", oneOf: [{ const: "eu", title: "Europe" }] },
      tags: { type: "array", items: { type: "string", enum: ["x", "y"] } },
      areas: { type: "array", items: { anyOf: [{ const: "n", title: "North" }] } },
      count: { type: "integer", default: 1 },
      rate: { type: "number", minimum: 0 },
      ok: { type: "boolean" },
      mail: { type: "string", format: "email" },
    },
    required: ["how", "tags", "mail"],
  });
  const computedForm: FormJson = { type: "object", properties: {} };
  const wide = await ask("k", "?", computedForm);

  type _Answers = [
    Expect<Equal<typeof line, string>>,
    Expect<Equal<typeof choice, "Fixed" | "Duplicate">>,
    Expect<Equal<typeof whole, number>>,
    Expect<Equal<typeof text, string | null>>,
    Expect<Equal<typeof parsed, number>>,
    Expect<Equal<typeof several, ("a" | "b")[]>>,
    Expect<Equal<typeof computed, ("eu" | "us")[]>>,
    Expect<Equal<typeof free, string[]>>,
    Expect<
      Equal<
        typeof object,
        { name: string; nick?: string | undefined; age: number; note: string | null }
      >
    >,
    Expect<Equal<typeof ark, { name: string; size?: "S" | "M"; n: number }>>,
    Expect<Equal<typeof arkChoice, "a" | "b">>,
    Expect<Equal<typeof vali, { a: string; b: number }>>,
    Expect<Equal<typeof plain, { city: string }>>,
    Expect<Equal<typeof unknown, unknown>>,
    Expect<Equal<typeof any, z.output<z.ZodAny>>>,
    Expect<
      Equal<
        typeof literal,
        {
          how: "Fixed" | "Duplicate";
          tags: ("x" | "y")[];
          mail: string;
          count: number;
          where?: "eu";
          areas?: "n"[];
          rate?: number;
          ok?: boolean;
        }
      >
    >,
    Expect<
      Equal<typeof wide, { [name: string]: string | number | boolean | string[] | undefined }>
    >,
  ];
}

// ---------------------------------------------------------------- what a form cannot show

const Nested = z.object({ name: z.string(), address: z.object({ street: z.string() }) });

export async function refused() {
  // @ts-expect-error "address" is an object
  await ask("k", "?", Nested);
  // @ts-expect-error "address" is an object
  await ask("k", "?", type({ address: { street: "string" } }));
  // @ts-expect-error "when" is a Date
  await ask("k", "?", z.object({ when: z.date() }));
  // @ts-expect-error "sizes" is a list of numbers
  await ask("k", "?", z.object({ sizes: z.array(z.number()) }));
  // @ts-expect-error a list of objects
  await ask("k", "?", z.array(z.object({ a: z.string() })));
  // @ts-expect-error a Date
  await ask("k", "?", z.date());
  // @ts-expect-error a Map
  await ask("k", "?", z.map(z.string(), z.string()));
  // @ts-expect-error a bigint
  await ask("k", "?", z.bigint());
  // @ts-expect-error valibot's own schemas carry no JSON Schema
  await ask("k", "?", v.string());
  // @ts-expect-error a literal may not nest either
  await ask("k", "?", { type: "object", properties: { a: { type: "object" } } });
  // @ts-expect-error a literal is an object
  await ask("k", "?", { type: "string" });
}

interface NotAskable<Why extends string> {
  readonly "a form cannot show this schema": Why;
}

export type Reasons = [
  Expect<
    Equal<
      Askable<typeof Nested>,
      NotAskable<'field "address" is not a string, number, boolean, enum or list of enum strings'>
    >
  >,
  Expect<
    Equal<
      Askable<z.ZodDate>,
      NotAskable<"it is not a string, number, boolean, enum, list of enum strings or object of these">
    >
  >,
];

// ---------------------------------------------------------------- schemas

const Defaulted = z.object({ n: z.int().default(1) });

export type Sides = [
  Expect<Equal<InputOf<typeof Defaulted>, { n?: number | undefined }>>,
  Expect<Equal<OutputOf<typeof Defaulted>, { n: number }>>,
  Expect<Equal<InputOf<string>, never>>,
  Expect<Equal<OutputOf<string>, never>>,
];

// Optional members take undefined as well, so that a field may be put together under exactOptionalPropertyTypes.
export const pieced: FormField = {
  type: "string",
  title: undefined,
  description: undefined,
  enum: undefined,
  oneOf: undefined,
  format: undefined,
  minLength: undefined,
  maxLength: undefined,
  default: undefined,
};

// ---------------------------------------------------------------- what JSON leaves

class Bug {
  id = 1;
  openedAt = new Date();
  readonly tags: string[] = [];
  close(): void {}
}
interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}
type Recursive = string | Recursive[] | { [name: string]: Recursive };
interface NotStored {
  readonly "a step's result is kept as JSON": "JSON cannot restore this; return plain data";
}

declare const anything: Stored<ReturnType<typeof JSON.parse>>;
export const stillAnything: { readonly a: number } = anything.a.b.c;

export type Kept = [
  Expect<Equal<Stored<string>, string>>,
  Expect<Equal<Stored<"a" | 1 | null>, "a" | 1 | null>>,
  Expect<Equal<Stored<undefined>, undefined>>,
  Expect<Equal<Stored<void>, void>>,
  Expect<Equal<Stored<unknown>, unknown>>,
  Expect<Equal<Stored<Date>, string>>,
  Expect<Equal<Stored<Date | undefined>, string | undefined>>,
  Expect<Equal<Stored<{ at: Date; by?: { when: Date } }>, { at: string; by?: { when: string } }>>,
  Expect<Equal<Stored<[Date, number]>, [string, number]>>,
  Expect<Equal<Stored<readonly Date[]>, readonly string[]>>,
  Expect<Equal<Stored<Bug>, { id: number; openedAt: string; readonly tags: string[] }>>,
  Expect<Equal<Stored<Bug[]>[number]["openedAt"], string>>,
  Expect<Equal<Stored<URL>, string>>,
  Expect<Equal<Stored<Map<string, number>>, NotStored>>,
  Expect<Equal<Stored<{ seen: Set<string> }>, { seen: NotStored }>>,
  Expect<Equal<Stored<Promise<string>>, NotStored>>,
  Expect<Equal<Stored<Uint8Array>, NotStored>>,
  Expect<Equal<Stored<Error>, NotStored>>,
  Expect<Equal<Stored<bigint>, NotStored>>,
  Expect<Equal<Stored<() => void>, NotStored>>,
  Expect<Equal<Stored<Json>, Json>>,
  Expect<Equal<Stored<Recursive>, Recursive>>,
  Expect<Equal<Stored<Tree>["children"][number]["children"][number]["name"], string>>,
];
