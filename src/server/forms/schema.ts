// The types of a schema: what it accepts, what the answer will be, and whether a form can show it.

import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { FormField, FormJson } from "../../protocol/form.ts";
import type { Json } from "../../util/json.ts";

export type { FormField, FormJson, Json };

/**
 * A schema of any library that implements Standard Schema with JSON Schema. zod 4 and arktype need no wrapper; wrap
 * valibot with `toStandardJsonSchema()` and plain JSON Schema with the SDK's `fromJsonSchema()`.
 */
export type Schema<In = unknown, Out = In> = StandardSchemaWithJSON<In, Out>;

/** What a schema accepts. */
export type InputOf<S> = S extends Schema ? StandardSchemaWithJSON.InferInput<S> : never;

/** What a schema gives after it has parsed a value. */
export type OutputOf<S> = S extends Schema ? StandardSchemaWithJSON.InferOutput<S> : never;

/** The type of the answer to a question with this schema. */
export type AnswerOf<S> = S extends FormJson ? FormValue<S> : OutputOf<S>;

/** The answer to a form that is written out as a literal. */
export type FormValue<S extends FormJson> = Flat<
  {
    -readonly [K in keyof S["properties"] as K extends PresentFields<S> ? K : never]: FieldValue<
      S["properties"][K]
    >;
  } & {
    -readonly [K in keyof S["properties"] as K extends PresentFields<S> ? never : K]?: FieldValue<
      S["properties"][K]
    >;
  }
>;

/** The names of the fields that an answer always has: those that are required or have a default. */
export type PresentFields<S extends FormJson> =
  | (S["required"] extends readonly (infer R)[] ? R : never)
  | {
      [K in keyof S["properties"]]: S["properties"][K] extends Readonly<Record<"default", unknown>>
        ? K
        : never;
    }[keyof S["properties"]];

/** The value of one field. */
export type FieldValue<F> =
  F extends Readonly<Record<"enum", readonly (infer E)[]>>
    ? E
    : F extends Readonly<Record<"oneOf", readonly Readonly<Record<"const", infer E>>[]>>
      ? E
      : F extends Readonly<Record<"items", infer I>>
        ? ItemValue<I>[]
        : F extends Readonly<Record<"type", "string">>
          ? string
          : F extends Readonly<Record<"type", "number" | "integer">>
            ? number
            : F extends Readonly<Record<"type", "boolean">>
              ? boolean
              : never;

/** The value of one item of a list. */
export type ItemValue<I> =
  I extends Readonly<Record<"enum", readonly (infer E)[]>>
    ? E
    : I extends Readonly<Record<"anyOf", readonly Readonly<Record<"const", infer E>>[]>>
      ? E
      : never;

/** The same type, shown by editors as one object. */
export type Flat<T> = { [K in keyof T]: T[K] };

/**
 * `unknown` if a form can show the schema. Otherwise a type that no schema has and that says why, for the compiler's message.
 *
 * It sees TypeScript types only. So `string[]` passes, because the choices of a list may be computed; if the list is
 * empty, the question fails when it is asked.
 */
export type Askable<S> = S extends Schema ? AskableInput<InputOf<S>> : unknown;

/** `Askable` for the type that a schema accepts. */
export type AskableInput<T> =
  IsField<T> extends true
    ? unknown
    : [T] extends [Opaque]
      ? NotAskable<"it is not a string, number, boolean, enum, list of enum strings or object of these">
      : [BadField<T>] extends [never]
        ? unknown
        : NotAskable<`field "${BadField<T> & string}" is not a string, number, boolean, enum or list of enum strings`>;

/** Whether one field of a form can hold this type. */
export type IsField<T> = [T] extends [string | number | boolean | null | undefined]
  ? true
  : [T] extends [readonly string[] | null | undefined]
    ? true
    : false;

/** Types that are objects to TypeScript, but have no members that a form could show. */
export type Opaque =
  | readonly unknown[]
  | Date
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ((...args: never) => unknown)
  | bigint
  | symbol;

/** The names of the members that a form cannot show. */
export type BadField<T> = T extends object
  ? {
      [K in keyof T]-?: unknown extends T[K] ? never : IsField<T[K]> extends true ? never : K;
    }[keyof T]
  : never;

/** A type that no schema has. The compiler's message shows why a form cannot show the schema. */
export interface NotAskable<Why extends string> {
  /** Why. */
  readonly "a form cannot show this schema": Why;
}

/** What is left of `T` after JSON: the type of a step's value, in the first run as in each later one. */
export type Stored<T> = [T] extends [Json | undefined | void] // ends the recursion for JSON types and any
  ? T
  : T extends string | number | boolean | null | undefined | void
    ? T
    : T extends Lost
      ? NotStored<"JSON cannot restore this; return plain data">
      : T extends Record<"toJSON", (...args: never) => infer J>
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

/** Types that JSON cannot restore. */
export type Lost =
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

/** The type of a step's value that JSON cannot restore. It fits nothing, so the compiler reports the mistake where the value is used. */
export interface NotStored<Why extends string> {
  /** Why. */
  readonly "a step's result is kept as JSON": Why;
}
