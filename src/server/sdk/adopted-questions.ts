// The questions that a tool asks through the official SDK: `elicitInput`, `createMessage` and `listRoots`. Each becomes
// a question of the call, and the tool gets the answer in the form that the SDK returns.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import type {
  CreateMessageRequest,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  JsonSchemaType,
} from "@modelcontextprotocol/server";
import { ParleyError } from "../../errors.ts";
import { elicitAnswer } from "../../protocol/answers.ts";
import type { FormJson } from "../../protocol/form.ts";
import type { QuestionSpec, Reading } from "../../replay/operations.ts";
import { rootsQuestion, sampleQuestion } from "../context/model-questions.ts";
import { formQuestion, urlQuestion } from "../context/questions.ts";
import type { QuestionParams } from "../context/questions.ts";
import { confirmForm, formOf } from "../forms/form.ts";
import type { Form } from "../forms/form.ts";
import { reasonOf } from "../forms/issues.ts";

/** What `elicitInput` takes. */
export type ElicitParams = ElicitRequestFormParams | ElicitRequestURLParams;

/** The question of an `elicitInput`. */
export function elicitQuestion(question: QuestionParams, params: ElicitParams): QuestionSpec {
  return ordered(
    question,
    params.mode === "url"
      ? pageQuestion(question, params)
      : formQuestion(question, params.message, formFor(question, params), "is_outcome"),
  );
}

/** The question of a `createMessage`. */
export function messageQuestion(
  question: QuestionParams,
  params: CreateMessageRequest["params"],
): QuestionSpec {
  const spec = sampleQuestion(question, { ...params });
  return ordered(question, { ...spec, read: (raw) => mapped(spec.read(raw), () => raw) });
}

/** The question of a `listRoots`. */
export function listRootsQuestion(question: QuestionParams): QuestionSpec {
  const spec = rootsQuestion(question);
  return ordered(question, {
    ...spec,
    read: (raw) => mapped(spec.read(raw), (roots) => ({ roots })),
  });
}

function pageQuestion(
  question: QuestionParams,
  { message, url }: ElicitRequestURLParams,
): QuestionSpec {
  const { admit: _admit, ...spec } = urlQuestion(question, message, { url, ticket: () => "" });
  return {
    ...spec,
    read: (raw) => {
      const answer = elicitAnswer(raw);
      return answer === undefined
        ? spec.read(raw)
        : { kind: "value", value: { action: answer.action } };
    },
  };
}

/**
 * The author gave these questions no keys, so their keys are their order. An answer must not reach another question
 * that is now asked at its place.
 */
function ordered({ call, key }: QuestionParams, spec: QuestionSpec): QuestionSpec {
  return { ...spec, ifChanged: () => askedAnother(call.name, key) };
}

function askedAnother(handler: string, key: string): ParleyError {
  return new ParleyError(
    "unstable_question",
    `"${handler}" asks a different question as "${key}" than it did in an earlier round of this call, so the answer cannot be matched to it.\n` +
      "An adopted tool runs from its beginning in each round, and must ask the same questions in the same order. Do not let them depend on anything that varies, such as the time or data from outside. If they must, register the tool with app.tool, and get such data in a ctx.step.",
  );
}

type Mapped = Reading | Promise<Reading>;

function mapped(reading: Mapped, map: (value: unknown) => unknown): Mapped {
  if (reading instanceof Promise) return reading.then((later) => mapped(later, map));
  return reading.kind === "value" ? { kind: "value", value: map(reading.value) } : reading;
}

// ---------------------------------------------------------------- forms

function formFor(question: QuestionParams, { requestedSchema }: ElicitRequestFormParams): Form {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked by formOf
  const literal = requestedSchema as unknown as FormJson;
  try {
    return formOf(question.key, literal);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    // The SDK asks with any schema, so this does, too. A client that cannot be asked is told the message alone.
    return question.call.can("form") ? anyForm(literal) : confirmForm;
  }
}

/** A form with keywords that `ctx.ask` does not allow, such as `pattern`. The SDK's validator checks its answers. */
function anyForm(requestedSchema: FormJson): Form {
  return {
    requestedSchema,
    read: (content) => {
      try {
        const result = validatorOf(requestedSchema)["~standard"].validate(content);
        if (result instanceof Promise) throw new TypeError("the SDK's validators are synchronous");
        return result.issues === undefined
          ? { ok: true, value: result.value }
          : { ok: false, reason: reasonOf(result.issues) };
      } catch (thrown) {
        return { ok: false, reason: "its schema cannot be applied", thrown };
      }
    },
  };
}

// A schema inside a handler is a new object in each run. The SDK keeps a validator for each object that it is given, so
// equal schemas share one here.
const validators = new Map<string, ReturnType<typeof fromJsonSchema>>();
const mostValidators = 500;

function validatorOf(schema: FormJson): ReturnType<typeof fromJsonSchema> {
  const text = JSON.stringify(schema);
  const known = validators.get(text);
  if (known !== undefined) return known;
  if (validators.size >= mostValidators) validators.clear();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON that the SDK judges
  const made = fromJsonSchema(JSON.parse(text) as JsonSchemaType);
  validators.set(text, made);
  return made;
}
