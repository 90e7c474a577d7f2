// One thing that waits for a person: what it is about, who has decided, and the way to answer.

import { computed } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type {
  AnswerOutcome,
  AnswerRequest,
  DecisionOutcome,
  DecisionRequest,
  InboxItem,
} from "../wire.ts";
import { AnswerForm, answerOf } from "./answer-form.tsx";
import { shortId } from "./format.ts";
import { session } from "./frame.tsx";
import { Icon } from "./icons.tsx";
import { lateText, standing } from "./inbox-list.ts";
import type { Settled, ShownItem } from "./inbox-list.ts";
import { isOffline, now } from "./live-reading.ts";
import { Facts, When } from "./parts.tsx";
import { href } from "./route.ts";
import { post, Refusal } from "./server.ts";

export interface InboxCardProps extends ShownItem {
  readonly isOpen: boolean;
  readonly setOpen: (is: boolean) => void;
  readonly settle: (how: Settled) => void;
  /** Reads the inbox again. */
  readonly reload: () => void;
}

const kindWords: Readonly<Record<InboxItem["kind"], string>> = {
  approval: "Approval",
  wait: "Wait",
  question: "Question to the client",
};

export function InboxCard(props: InboxCardProps): ComponentChild {
  const { item, outcome } = props;
  const title = useRef<HTMLHeadingElement>(null);
  const wasOpen = useRef(false);
  const answer = useRef<HTMLDivElement>(null);
  const height = useRef(0);
  const sending = useSending();
  useLayoutEffect(() => {
    // What is below stays where it is when someone else answers while the form is open.
    if (outcome === undefined) height.current = answer.current?.offsetHeight ?? 0;
    else answer.current?.style.setProperty("min-height", `${height.current}px`);
  });
  useEffect(() => {
    // The button that had the focus is gone once the answer is in.
    if (outcome !== undefined && wasOpen.current) title.current?.focus();
    wasOpen.current = props.isOpen;
  }, [outcome, props.isOpen]);
  return (
    <article class={outcome === undefined ? "card" : "card settled"}>
      <p class="line">
        <span class="kind">{kindWords[item.kind]}</span>
        {item.group !== undefined && <span class="tag">{item.group}</span>}
        <span class="push">
          <When at={item.since} hasFocus />
        </span>
      </p>
      <p class="line">
        {item.message === undefined ? (
          <a href={href(["tasks", item.task])}>
            <code>{item.key}</code>
          </a>
        ) : (
          <a href={href(["tasks", item.task])}>
            {item.tool} <code>{shortId(item.task)}</code>
          </a>
        )}
        {item.principal !== undefined && <span class="soft">for {item.principal}</span>}
      </p>
      <h3 ref={title} tabIndex={-1}>
        {/* Whoever may not read the question still has to tell the cards apart. */}
        {item.message ?? `${item.tool} ${shortId(item.task)}`}
      </h3>
      {item.about !== undefined && (
        <Facts
          facts={Object.entries(item.about).map(([name, value]) => [name, aboutText(value)])}
        />
      )}
      {item.kind === "approval" && (
        <Decisions
          item={item}
          standing={standing(props, now.value)}
          isOver={props.stage === "gone" || props.stage === "told"}
        />
      )}
      <div class="answer" ref={answer} aria-live="polite">
        {outcome !== undefined ? (
          <p class={props.isGood === true ? "outcome good" : "outcome"}>
            {props.isGood === true && <Icon name="check" />} {outcome}
          </p>
        ) : !item.mayAnswer ? (
          <p class="soft">{cannot.value === undefined ? item.whyNot : answeredBy(item)}</p>
        ) : (
          <>
            {sending.isBusy && <p class="outcome">Sending…</p>}
            <div hidden={sending.isBusy}>
              {item.kind === "approval" ? (
                <Approving {...props} sending={sending} />
              ) : (
                <Answering {...props} sending={sending} />
              )}
            </div>
          </>
        )}
      </div>
    </article>
  );
}

const aboutText = (value: string | number | boolean): string =>
  typeof value === "boolean" ? (value ? "Yes" : "No") : String(value);

/** Why the person at this console can answer nothing at all. It is said once, and not on every card. */
export const cannot = computed((): string | undefined => {
  const { may, hasKeys } = session.value ?? { may: "look", hasKeys: true };
  if (may === "look") return "You may look, and not act.";
  return hasKeys
    ? undefined
    : "This console does not have the keys of the server, so it can neither show nor answer what is asked. Open it with the keys.";
});

function answeredBy({ kind, group }: InboxItem): string {
  if (kind === "question") return "The client answers this.";
  const verb = kind === "approval" ? "decides" : "answers";
  return group === undefined ? "It waits for a value." : `The group ${group} ${verb}.`;
}

function Decisions(props: {
  readonly item: InboxItem;
  readonly standing: string;
  readonly isOver: boolean;
}): ComponentChild {
  const { decisions, needed = 1, dueAt } = props.item;
  // There is room for everyone's decision, so that nothing moves when one arrives.
  const lines = needed + (needed > 1 || dueAt !== undefined ? 1 : 0);
  const missing = props.isOver || needed === 1 ? 0 : Math.max(0, needed - decisions.length);
  return (
    <ul class="decisions" style={{ minHeight: `${lines}lh` }}>
      {props.standing !== "" && <li>{props.standing}</li>}
      {needed === 1 && decisions.length === 0 && <li class="soft">Nobody has decided.</li>}
      {decisions.map((one) => (
        <li key={`${one.who} ${one.at}`}>
          <b>{one.who}</b> {one.isApproved ? "approved" : "declined"} <When at={one.at} hasFocus />
          {one.note !== undefined && <q>{one.note}</q>}
        </li>
      ))}
      {Array.from({ length: missing }, (_, index) => (
        <li key={index} class="soft">
          <span aria-hidden="true">○</span> open
        </li>
      ))}
    </ul>
  );
}

interface Sending {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  readonly send: (work: () => Promise<string | undefined>) => void;
}

type AnsweringProps = InboxCardProps & { readonly sending: Sending };

/** Sends something, and says what became of it. */
function useSending(): Sending {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const send = (work: () => Promise<string | undefined>) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    work()
      .then(setProblem, (error: unknown) =>
        setProblem(error instanceof Refusal ? error.message : String(error)),
      )
      .finally(() => setBusy(false));
  };
  return { isBusy, problem, send };
}

function Approving(props: AnsweringProps): ComponentChild {
  const { item, isOpen, setOpen, settle, reload } = props;
  const [isApproved, setApproved] = useState(true);
  const note = useRef<HTMLInputElement>(null);
  const { isBusy, problem, send } = props.sending;
  const id = `note-${item.task}-${item.key}`;
  const choose = (is: boolean) => {
    setApproved(is);
    setOpen(true);
  };
  const decide = () =>
    send(async () => {
      const text = note.current?.value.trim() ?? "";
      const {
        status,
        decisions = [],
        isLate,
        obstacle,
      } = await post<DecisionOutcome>("api/decisions", {
        task: item.task,
        key: item.key,
        approve: isApproved,
        ...(item.digest === undefined ? undefined : { digest: item.digest }),
        ...(text === "" ? undefined : { note: text }),
      } satisfies DecisionRequest);
      if (isLate === true || status === "gone") {
        settle(lateBy(isApproved ? "approval" : "decline"));
        return undefined;
      }
      if (status === "not_allowed") return "You may not decide this. Ask someone of the group.";
      if (status === "changed") {
        reload();
        return "The request has changed. Nothing was sent. Look at it again.";
      }
      settle({ ...withObstacle(decided[status], obstacle), decisions });
      return undefined;
    });
  useEffect(() => {
    if (isOpen && !isBusy) note.current?.focus();
  }, [isOpen, isApproved, isBusy]);
  if (!isOpen) {
    return (
      <div class="actions">
        <button type="button" class="main" disabled={isOffline()} onClick={() => choose(true)}>
          Approve…
        </button>
        <button type="button" disabled={isOffline()} onClick={() => choose(false)}>
          Decline…
        </button>
      </div>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        decide();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") setOpen(false);
      }}
    >
      {problem !== undefined && (
        <p class="error" role="alert">
          {problem}
        </p>
      )}
      <div class="field">
        <label for={id}>
          Note <span class="optional">(optional, kept with the decision)</span>
        </label>
        <input id={id} ref={note} maxLength={500} autocomplete="off" />
      </div>
      <div class="actions">
        <button
          type="submit"
          class={isApproved ? "main" : "main grave"}
          disabled={isBusy || isOffline()}
        >
          {isApproved ? "Approve" : "Decline"}
        </button>
        <button type="button" onClick={() => setOpen(false)}>
          Go back
        </button>
      </div>
    </form>
  );
}

/** Who was faster is in the audit record of the call, which the page reads then. */
const lateBy = (late: NonNullable<Settled["late"]>): Settled => ({
  stage: "gone",
  outcome: lateText(late),
  late,
});

/** What was sent, and instead of that the task goes on, why it may not. */
const withObstacle = (settled: Settled, obstacle: string | undefined): Settled =>
  obstacle === undefined
    ? settled
    : { ...settled, outcome: `${settled.outcome.split(".", 1)[0] ?? ""}. ${obstacle}` };

const decided: Readonly<
  Record<Exclude<DecisionOutcome["status"], "not_allowed" | "changed" | "gone">, Settled>
> = {
  counted: {
    stage: "decided",
    outcome: "Your decision counts. It waits for others.",
    isGood: true,
  },
  approved: { stage: "told", outcome: "Approved. The task goes on.", isGood: true },
  declined: { stage: "told", outcome: "Declined. The task is told so." },
  // By this person on another page, so that it may still wait.
  already_decided: { stage: "decided", outcome: "You have decided already." },
};

function Answering({ item, isOpen, setOpen, settle, sending }: AnsweringProps): ComponentChild {
  const { isBusy, problem, send } = sending;
  if (!isOpen) {
    return (
      <div class="actions">
        <button type="button" class="main" disabled={isOffline()} onClick={() => setOpen(true)}>
          Answer…
        </button>
      </div>
    );
  }
  const { task, key } = item;
  // What a client is asked is answered with the fields of its form, as the client would.
  const isQuestion = item.kind === "question";
  const sendAnswer = (body: AnswerRequest, done: string) =>
    send(async () => {
      const { status, reason, obstacle } = await post<AnswerOutcome>("api/answers", body);
      if (status === "invalid") return reason ?? "The answer does not fit the question.";
      const isDecline = "decline" in body;
      if (status !== "delivered") settle(lateBy(isDecline ? "decline" : "answer"));
      else {
        settle(withObstacle({ stage: "told", outcome: done, isGood: !isDecline }, obstacle));
      }
      return undefined;
    });
  return (
    <AnswerForm
      form={item.form}
      field={item.field}
      idPrefix="a-"
      schema={item.schema}
      error={problem}
      isBusy={isBusy || isOffline()}
      send={(content) =>
        sendAnswer(
          { task, key, value: isQuestion ? content : answerOf(item, content) },
          "Answered. The task goes on.",
        )
      }
      // A task that waits for a value cannot go on without one.
      {...(isQuestion && {
        decline: () => sendAnswer({ task, key, decline: true }, "Declined. The task is told so."),
      })}
      close={() => setOpen(false)}
    />
  );
}
