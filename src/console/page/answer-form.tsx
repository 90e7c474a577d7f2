// The form of a question, made of the same fields as its page has, with the buttons of the console.

import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { FormJson } from "../../protocol/form.ts";
import { FormFields, JsonField } from "../../ui/form-fields.ts";
import { defaultsOf, readForm } from "../../ui/form-values.ts";
import type { Json } from "../../util/json.ts";

export interface AnswerFormProps {
  readonly form: FormJson | undefined;
  /** The field that is the whole answer. */
  readonly field?: string | undefined;
  /** Begins the ids of the fields, so that they are unique. */
  readonly idPrefix: string;
  /** The schema of a value that no form can show. */
  readonly schema: Json | undefined;
  /** What is wrong with the answer as a whole. */
  readonly error: string | undefined;
  readonly isBusy: boolean;
  readonly send: (content: Json) => void;
  readonly decline?: (() => void) | undefined;
  readonly close?: (() => void) | undefined;
  /** The word on the button. */
  readonly verb?: string;
  /** Leaves the focus where it is. */
  readonly isQuiet?: boolean;
}

/** The value that answers a question, from what its form contains. */
export function answerOf(
  question: { readonly form?: FormJson; readonly field?: string },
  content: Json,
): Json {
  const { form, field } = question;
  // A form without fields is a question that can only be answered with yes.
  if (form !== undefined && Object.keys(form.properties).length === 0) return true;
  if (field === undefined || typeof content !== "object" || content === null) return content;
  return new Map(Object.entries(content)).get(field) ?? null;
}

export function AnswerForm(props: AnswerFormProps): ComponentChild {
  const { form, field, idPrefix, schema, error, isBusy, send, decline, close } = props;
  const element = useRef<HTMLFormElement>(null);
  const [values, setValues] = useState(() => (form === undefined ? {} : defaultsOf(form)));
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [text, setText] = useState("");
  const [jsonError, setJsonError] = useState<string>();
  useEffect(() => {
    if (props.isQuiet === true) return;
    focusFirst(element.current);
  }, []);
  useEffect(() => {
    element.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [errors, jsonError]);
  useEffect(() => {
    // The form was away while the answer was sent.
    if (error !== undefined && !isBusy && props.isQuiet !== true) focusFirst(element.current);
  }, [error, isBusy]);

  const submit = (event: Event) => {
    event.preventDefault();
    if (element.current === null) return;
    const sent = new URLSearchParams();
    for (const [name, value] of new FormData(element.current)) {
      if (typeof value === "string") sent.append(name, value);
    }
    if (form === undefined) {
      const written = sent.get("json") ?? "";
      setText(written);
      const value = parsed(written);
      setJsonError(value === undefined ? "This is not JSON." : undefined);
      if (value !== undefined) send(value);
      return;
    }
    const { content, errors: found } = readForm(form, sent);
    setValues(content);
    setErrors(found);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a form contains texts, numbers, booleans and lists
    if (Object.keys(found).length === 0) send(content as Json);
  };
  const isBare = form !== undefined && Object.keys(form.properties).length === 0;
  return (
    <form
      ref={element}
      class="ask"
      noValidate
      autocomplete="off"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === "Escape") close?.();
      }}
    >
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {form === undefined ? (
        <JsonField idPrefix={idPrefix} text={text} schema={schema} error={jsonError} />
      ) : (
        <FormFields
          form={form}
          questionKey={field}
          idPrefix={idPrefix}
          values={values}
          errors={errors}
        />
      )}
      <div class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          {props.verb ?? (isBare ? "Yes" : "Send")}
        </button>
        {decline !== undefined && (
          <button type="button" disabled={isBusy} onClick={decline}>
            {isBare ? "No" : "Decline"}
          </button>
        )}
        {close !== undefined && (
          <button type="button" onClick={close}>
            Go back
          </button>
        )}
      </div>
    </form>
  );
}

const focusFirst = (form: HTMLFormElement | null): void =>
  form?.querySelector<HTMLElement>("input, textarea, select, button")?.focus();

function parsed(text: string): Json | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this is what JSON.parse returns
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
