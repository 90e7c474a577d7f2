// The types of a schema: what it accepts, what the answer will be, and whether a form can show it.

import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { FormField, FormJson } from "../../protocol/form.ts";
import type { Json } from "../../util/json.ts";

export type { FormField, FormJson, Json };

/** A schema of any library that implements Standard Schema with JSON Schema. zod 4 and arktype fit as they are; wrap valibot with `toStandardJsonSchema()` and plain JSON Schema with the SDK's `fromJsonSchema()`. */
export type Schema<In = unknown, Out = In> = StandardSchemaWithJSON<In, Out>;

/** What a schema accepts. */
export type InputOf<S> = S extends Schema ? StandardSchemaWithJSON.InferInput<S> : never;

/** What a schema gives after it has parsed a value. */
export type OutputOf<S> = S extends Schema ? StandardSchemaWithJSON.InferOutput<S> : never;

/** The type of the answer to a question with this schema. */
export type AnswerOf<S> = S extends FormJson ? FormValue<S> : OutputOf<S>;

type FormValue<S extends FormJson> = Flat<
  {
    -readonly [K in keyof S["properties"] as K extends Present<S> ? K : never]: FieldValue<
      S["properties"][K]
    >;
  } & {
    -readonly [K in keyof S["properties"] as K extends Present<S> ? never : K]?: FieldValue<
      S["properties"][K]
    >;
  }
>;

type Present<S extends FormJson> =
  | (S["required"] extends readonly (infer R)[] ? R : never)
  | {
      [K in keyof S["properties"]]: S["properties"][K] extends { readonly default: unknown }
        ? K
        : never;
    }[keyof S["properties"]];

type FieldValue<F> = F extends
  | { readonly enum: readonly (infer E)[] }
  | { readonly oneOf: readonly { readonly const: infer E }[] }
  ? E
  : F extends {
        readonly items:
          | { readonly enum: readonly (infer E)[] }
          | { readonly anyOf: readonly { readonly const: infer E }[] };
      }
    ? E[]
    : F extends { readonly type: "string" }
      ? string
      : F extends { readonly type: "number" | "integer" }
        ? number
        : F extends { readonly type: "boolean" }
          ? boolean
          : never;

type Flat<T> = { [K in keyof T]: T[K] };

/**
 * `unknown` if a form can show the schema. Otherwise a type that no schema has and that says why, for the compiler's message.
 *
 * It sees TypeScript types only. So `string[]` passes, because the choices of a list may be computed; if the list has none,
 * the question fails when it is asked.
 */
export type Askable<S> = S extends Schema ? AskableInput<InputOf<S>> : unknown;

type AskableInput<T> =
  IsField<T> extends true
    ? unknown
    : [T] extends [Opaque]
      ? NotAskable<"it is not a string, number, boolean, enum, list of enum strings or object of these">
      : [BadField<T>] extends [never]
        ? unknown
        : NotAskable<`field "${BadField<T> & string}" is not a string, number, boolean, enum or list of enum strings`>;

type IsField<T> = [T] extends [string | number | boolean | null | undefined]
  ? true
  : [T] extends [readonly string[] | null | undefined]
    ? true
    : false;

/** Types that are objects to TypeScript, but have no members that a form could show. */
type Opaque =
  | readonly unknown[]
  | Date
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ((...args: never) => unknown)
  | bigint
  | symbol;

type BadField<T> = T extends object
  ? {
      [K in keyof T]-?: unknown extends T[K] ? never : IsField<T[K]> extends true ? never : K;
    }[keyof T]
  : never;

interface NotAskable<Why extends string> {
  readonly "a form cannot show this schema": Why;
}

/** What is left of `T` after JSON: the type of a step's value, in the first run as in each later one. */
export type Stored<T> = [T] extends [Json | undefined | void] // ends the recursion for JSON types and any
  ? T
  : T extends string | number | boolean | null | undefined | void
    ? T
    : T extends Lost
      ? NotStored<"JSON does not bring this back; return plain data">
      : T extends { toJSON(...args: never): infer J }
        ? Stored<J>
        : T extends readonly unknown[]
          ? { [K in keyof T]: Stored<T[K]> }
          : T extends object
            ? {
                [
                  K in keyof T as T[K] extends ((...args: never) => unknown) | symbol ? never : K
                ]: Stored<T[K]>;
              }
            : T;

type Lost =
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | RegExp
  | Error
  | Promise<unknown>
  | ArrayBufferLike
  | ArrayBufferView
  | bigint
  | symbol
  | ((...args: never) => unknown);

interface NotStored<Why extends string> {
  readonly "a step's result is kept as JSON": Why;
}
