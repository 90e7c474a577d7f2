// Small parts that every screen uses.

import type { ComponentChild, ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Json } from "../../util/json.ts";
import { clock, exact, relative, rough } from "./format.ts";
import { Icon } from "./icons.tsx";
import { now } from "./live-reading.ts";
import type { Refusal } from "./server.ts";

/** A moment, as people say it. The exact time appears when the pointer or the focus is on it. */
export function When(props: {
  readonly at: number;
  /** Says how long ago without the word "ago". */
  readonly isAge?: boolean;
  /** Shows the time of day beside it, where it tells things apart that came soon after each other. */
  readonly isTimed?: boolean;
  /** Whether the keyboard stops here. In lists, the row does. */
  readonly hasFocus?: boolean;
}): ComponentChild {
  const { at, isAge = false, isTimed = false, hasFocus = false } = props;
  return (
    <time
      class={isTimed ? "when timed" : "when"}
      dateTime={new Date(at).toISOString()}
      {...(hasFocus ? { tabIndex: 0 } : undefined)}
    >
      {isTimed && <span class="soft">{clock(at)} </span>}
      {isAge ? rough(Math.max(0, now.value - at)) : relative(at, now.value)}
      <span class="exact">{exact(at)}</span>
    </time>
  );
}

/** The title of a screen, and what belongs beside it. */
export function Heading(props: {
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}): ComponentChild {
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{props.title}</h1>
      {props.children}
    </div>
  );
}

/** What stands where nothing is, and teaches how it would come here. */
export function Empty(props: {
  readonly title: string;
  readonly children?: ComponentChildren;
}): ComponentChild {
  return (
    <div class="empty">
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

/** What went wrong, and what to do. */
export function Problem(props: {
  readonly refusal: Refusal;
  readonly retry?: () => void;
}): ComponentChild {
  const { refusal, retry } = props;
  return (
    <div class="problem" role="alert">
      <p>{refusal.message}</p>
      {retry !== undefined && refusal.status !== 404 && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Grey lines of the height that the data will have, so that nothing moves when it arrives. */
export function Skeleton({ lines, tall }: { lines: number; tall?: boolean }): ComponentChild {
  return (
    <div class={tall === true ? "skeleton tall" : "skeleton"} aria-busy="true">
      <span class="unseen">Loading…</span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="bone" />
      ))}
    </div>
  );
}

/** A value as JSON. */
export function JsonText(props: {
  readonly value: Json | undefined;
  readonly label: string;
}): ComponentChild {
  return (
    <pre tabIndex={0} role="region" aria-label={props.label}>
      {typeof props.value === "string" ? props.value : JSON.stringify(props.value, undefined, 2)}
    </pre>
  );
}

/** An id that can be copied. */
export function Copyable(props: { readonly text: string; readonly what: string }): ComponentChild {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const copy = async () => {
    await navigator.clipboard.writeText(props.text);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), 2000);
  };
  return (
    <span class="copyable">
      <code>{props.text}</code>
      <button
        type="button"
        class="bare"
        aria-label={`Copy ${props.what}`}
        onClick={() => void copy().catch(() => {})}
      >
        <Icon name={isCopied ? "check" : "copy"} />
      </button>
      <span class="unseen" role="status">
        {isCopied ? "Copied." : ""}
      </span>
    </span>
  );
}

/** Pairs of a name and a value. Those without a value are left out. */
export function Facts(props: {
  readonly facts: readonly (readonly [string, ComponentChildren])[];
}): ComponentChild {
  return (
    <dl class="facts">
      {props.facts.map(([name, value]) =>
        value === undefined || value === null || value === "" ? undefined : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
