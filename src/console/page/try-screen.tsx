// Development: calls a tool, answers what it asks, and attacks it: with a token that was changed, and with a round that
// was sent before.

import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Json } from "../../util/json.ts";
import type { ToolFacts, TriedQuestion, TryMore, TryOutcome, TryRequest } from "../wire.ts";
import { AnswerForm } from "./answer-form.tsx";
import { size } from "./format.ts";
import { session } from "./frame.tsx";
import { StatusMark } from "./icons.tsx";
import type { Mark } from "./icons.tsx";
import { formOfSchema } from "./input-schema.ts";
import { Empty, Heading, JsonText } from "./parts.tsx";
import { href, refine, route } from "./route.ts";
import { post, Refusal } from "./server.ts";

/** One exchange with the server. */
interface Turn {
  /** What the person did. */
  readonly deed: string;
  readonly outcome: TryOutcome;
  /** The number of its round. An attack is no round: the call goes on from where it was. */
  readonly round: number | undefined;
}

export function TryScreen(): ComponentChild {
  const tools = session.value?.tools ?? [];
  const wanted = route.value.query.get("tool");
  const tool = tools.find(({ name }) => name === wanted) ?? tools[0];
  return (
    <div class="screen">
      <Heading title="Try a tool" />
      {tool === undefined ? (
        <Empty title="No tools">
          <p>
            Register one with <code>app.tool</code>. It appears here when the server starts again.
          </p>
        </Empty>
      ) : (
        <Conversation key={tool.name} tool={tool} tools={tools} />
      )}
    </div>
  );
}

function Conversation(props: {
  readonly tool: ToolFacts;
  readonly tools: readonly ToolFacts[];
}): ComponentChild {
  const { tool, tools } = props;
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const latest = turns.findLast(({ round }) => round !== undefined);
  const send = async (deed: string, address: string, body: object, round: number | undefined) => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const outcome = await post<TryOutcome>(address, body);
      setTurns((before) => [...(round === 1 ? [] : before), { deed, outcome, round }]);
    } catch (error) {
      setProblem(error instanceof Refusal ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const call = (args: Json) =>
    void send("Called", "api/try", { tool: tool.name, args } satisfies TryRequest, 1);
  const goOn = (deed: string, more: TryMore) => {
    const round = "answers" in more ? (latest?.round ?? 0) + 1 : undefined;
    const address = `api/try/${encodeURIComponent(latest?.outcome.call ?? "")}`;
    void send(deed, address, more, round);
  };
  return (
    <div class="trial">
      <section class="panel">
        <div class="field">
          <label for="tool">Tool</label>
          <select
            id="tool"
            value={tool.name}
            onChange={({ currentTarget }) => refine({ tool: currentTarget.value })}
          >
            {tools.map(({ name, title }) => (
              <option key={name} value={name}>
                {title === undefined || title === name ? name : `${title} (${name})`}
              </option>
            ))}
          </select>
        </div>
        {tool.description !== undefined && <p class="soft">{tool.description}</p>}
        <AnswerForm
          form={formOfSchema(tool.inputSchema)}
          idPrefix="args-"
          schema={tool.inputSchema}
          error={problem}
          isBusy={isBusy}
          send={call}
          verb="Call"
          isQuiet
        />
      </section>
      <section aria-label="Conversation" class="talk" aria-live="polite">
        {turns.length === 0 ? (
          <Empty title="Nothing was called yet">
            <p>
              Call the tool to see its questions here, with every request and response. You can then
              tamper with its token or send a round twice.
            </p>
          </Empty>
        ) : (
          <ol>
            {turns.map((turn, index) => (
              <TurnCard
                key={index}
                turn={turn}
                isLatest={turn === latest}
                isBusy={isBusy}
                goOn={goOn}
              />
            ))}
          </ol>
        )}
      </section>
    </div>
  );
}

const marks: Readonly<Record<TryOutcome["status"], Mark>> = {
  input_required: "input_required",
  completed: "completed",
  failed: "failed",
  refused: "refused",
  task: "task",
};

function TurnCard(props: {
  readonly turn: Turn;
  /** Whether the call goes on from here. */
  readonly isLatest: boolean;
  readonly isBusy: boolean;
  readonly goOn: (deed: string, more: TryMore) => void;
}): ComponentChild {
  const { turn, isLatest, isBusy, goOn } = props;
  const { outcome, round } = turn;
  const isAsking = isLatest && outcome.status === "input_required";
  const card = useRef<HTMLLIElement>(null);
  useEffect(() => card.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <li class="card" ref={card}>
      <p class="line">
        <span class="kind">{turn.deed}</span>
        <StatusMark mark={marks[outcome.status]} />
        <span class="push">
          sent {size(outcome.requestBytes)} · received {size(outcome.responseBytes)}
          {outcome.tokenBytes !== undefined && ` · token ${size(outcome.tokenBytes)}`}
        </span>
      </p>
      {outcome.error !== undefined && (
        <p class="error">
          {outcome.error.message} <code>{outcome.error.code}</code>
        </p>
      )}
      {outcome.result !== undefined && <JsonText value={outcome.result} label="Result" />}
      {outcome.task !== undefined && (
        <p>
          The call goes on as a task: <a href={href(["tasks", outcome.task])}>{outcome.task}</a>
        </p>
      )}
      {isAsking &&
        outcome.questions.map((question) => (
          <Question
            key={question.key}
            question={question}
            isBusy={isBusy}
            answer={(value) =>
              goOn(`Answered ${question.key}`, {
                answers: Object.fromEntries([[question.key, value]]),
              })
            }
          />
        ))}
      <div class="actions">
        {isAsking && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => goOn("Sent a token that was tampered with", { tamper: true })}
          >
            Tamper with the token
          </button>
        )}
        {round !== undefined && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => goOn(`Sent round ${round} again`, { replay: round })}
          >
            Replay this round
          </button>
        )}
      </div>
      <details>
        <summary>Request and response</summary>
        <div class="pair">
          <JsonText value={outcome.request} label="Request" />
          <JsonText value={outcome.response} label="Response" />
        </div>
      </details>
    </li>
  );
}

function Question(props: {
  readonly question: TriedQuestion;
  readonly isBusy: boolean;
  readonly answer: (value: Json) => void;
}): ComponentChild {
  const { question, isBusy, answer } = props;
  return (
    <div class="asked">
      <h2>{question.message}</h2>
      {question.url !== undefined ? (
        <p>
          It is answered on a page: <a href={question.url}>open it</a>
        </p>
      ) : (
        <AnswerForm
          form={question.form}
          idPrefix={`q-${question.key}-`}
          schema={question.request}
          error={undefined}
          isBusy={isBusy}
          send={answer}
          decline={() => answer({ action: "decline" })}
        />
      )}
    </div>
  );
}
