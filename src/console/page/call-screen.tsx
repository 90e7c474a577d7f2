// Development: one call made of rounds, with what each token weighs and says, and the line of code behind each entry.

import type { ComponentChild } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { CallDetails, RoundFacts } from "../wire.ts";
import { callMark } from "./calls-screen.tsx";
import { EntryDetails } from "./entry-details.tsx";
import { duration, size } from "./format.ts";
import { Icon, StatusMark } from "./icons.tsx";
import { now, useReading } from "./live-reading.ts";
import { Copyable, Facts, Heading, JsonText, Problem, Skeleton, When } from "./parts.tsx";
import { href } from "./route.ts";
import { timelineOf } from "./timeline-model.ts";
import type { Timeline } from "./timeline-model.ts";
import { TimelineView } from "./timeline-view.tsx";

export function CallScreen({ id }: { readonly id: string }): ComponentChild {
  const { data, error, reload } = useReading<CallDetails>(
    `api/calls/${encodeURIComponent(id)}`,
    (line) => line.type === "any" || (line.type === "call" && line.id === id),
  );
  return (
    <div class="screen">
      <a class="back" href={href(["calls"])}>
        <Icon name="back" /> Calls
      </a>
      <Heading title={data?.call.target ?? "Call"}>
        {data !== undefined && <StatusMark mark={callMark(data.call)} />}
      </Heading>
      {data !== undefined ? (
        <Loaded {...data} />
      ) : error !== undefined ? (
        <Problem refusal={error} retry={reload} />
      ) : (
        <Skeleton lines={8} tall />
      )}
    </div>
  );
}

function Loaded(details: CallDetails): ComponentChild {
  const { call, rounds } = details;
  const time = call.endedAt ?? Math.floor(now.value / 5000) * 5000;
  const timeline = useMemo(() => timelineOfCall(details, time), [call, rounds, time]);
  const [selected, select] = useState<string>();
  return (
    <>
      <Facts
        facts={[
          ["Call", <Copyable text={call.id} what="the id of the call" />],
          ["Principal", call.principal],
          ["Began", <When at={call.beganAt} hasFocus />],
          ["Rounds", call.rounds],
          ["Server", duration(timeline.serverMs)],
          ["People", duration(timeline.to - timeline.from - timeline.serverMs)],
          ["Task", call.task && <a href={href(["tasks", call.task])}>{call.task}</a>],
        ]}
      />
      <div class="beside">
        <section aria-labelledby="timeline-title">
          <TimelineView timeline={timeline} runWord="round" selected={selected} select={select} />
        </section>
        <EntryDetails
          row={timeline.rows.find((row) => row.id === selected)}
          timeline={timeline}
          runWord="round"
        />
      </div>
      <section>
        <h2>Rounds</h2>
        {rounds.map((round) => (
          <Round key={round.round} facts={round} isLast={round === rounds.at(-1)} />
        ))}
      </section>
    </>
  );
}

const endOf = ({ at, ms }: RoundFacts): number => at + ms;

/** A round is to a call what a run is to a task: the handler runs again from its top. */
function timelineOfCall({ call, rounds }: CallDetails, time: number): Timeline {
  return timelineOf({
    entries: (rounds.at(-1)?.entries ?? []).map((entry) => {
      const round = rounds.find((one) => one.round === entry.epoch);
      const at = entry.kind === "answer" ? round?.at : round && endOf(round);
      return entry.at === undefined && at !== undefined ? { ...entry, at } : entry;
    }),
    runs: rounds.map((round) => ({
      epoch: round.round,
      worker: "this process",
      beganAt: round.at,
      endedAt: endOf(round),
      how: "parked",
    })),
    waits: [],
    createdAt: call.beganAt,
    updatedAt: call.endedAt ?? time,
    isOver: call.endedAt !== undefined,
    now: time,
  });
}

function Round(props: { readonly facts: RoundFacts; readonly isLast: boolean }): ComponentChild {
  const { facts, isLast } = props;
  const sizes = [
    ["request", facts.requestBytes],
    ["token", facts.tokenBytes],
    ["response", facts.responseBytes],
  ] as const;
  const contents = [
    ["Token", facts.token],
    ["What arrived", facts.answers],
    ["What it ended with", facts.response],
  ] as const;
  return (
    <details class="round" open={isLast}>
      <summary>
        <b>Round {facts.round}</b>
        <span>{duration(facts.ms)}</span>
        {sizes.map(([name, bytes]) =>
          bytes === undefined ? undefined : (
            <span key={name}>
              {name} {size(bytes)}
            </span>
          ),
        )}
      </summary>
      <div class="pair">
        {contents.map(([name, value]) =>
          value === undefined ? undefined : (
            <div key={name}>
              <h3>{name}</h3>
              <JsonText value={value} label={`${name}, round ${facts.round}`} />
            </div>
          ),
        )}
      </div>
    </details>
  );
}
