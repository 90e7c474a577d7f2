// Whether the service is well: its workers, what is overdue, what was refused, and the newest of the audit record.

import type { ComponentChild } from "preact";
import { mostWaits } from "../wire.ts";
import type { HealthFacts } from "../wire.ts";
import { AuditTable } from "./audit-table.tsx";
import { clock, grouped, rough } from "./format.ts";
import { isChangeOrTime, useReading } from "./live-reading.ts";
import { Heading, Problem, Skeleton, When } from "./parts.tsx";
import { trouble } from "./server.ts";

export function HealthScreen(): ComponentChild {
  const { data, error, reload } = useReading<HealthFacts>("api/health", isChangeOrTime);
  return (
    <div class="screen">
      <Heading title="Health" />
      {data !== undefined ? (
        <Health facts={data} />
      ) : error !== undefined ? (
        <Problem refusal={error} retry={reload} />
      ) : (
        <Skeleton lines={8} tall />
      )}
    </div>
  );
}

function Health({ facts }: { readonly facts: HealthFacts }): ComponentChild {
  const { figures, workers, oldestDue, storeFailingSince, now } = facts;
  const silent = workers.filter(({ isSilent }) => isSilent).length;
  const hasWorker = silent < workers.length;
  const late = oldestDue === undefined ? undefined : now - oldestDue;
  const isLate = late !== undefined && late > 60_000;
  const { waiting, waitingSince } = facts;
  // While the store or the server does not answer, these are the facts of before.
  const wrong = trouble.value;
  const failingSince = wrong?.kind === "store" ? wrong.since : storeFailingSince;
  return (
    <>
      <dl class="tiles">
        <Tile name="Live tasks" value={grouped(figures.live)} />
        <Tile name="Running" value={grouped(figures.running)} />
        <Tile
          name="In the inbox"
          value={waiting >= mostWaits ? `${mostWaits}+` : grouped(waiting)}
          note={oldestText(waitingSince && now - waitingSince)}
        />
        <Tile name="Client asked" value={grouped(figures.inputRequired)} />
        <Tile
          name="Due"
          value={grouped(figures.due)}
          note={oldestText(isLate ? late : undefined)}
          isBad={isLate}
        />
        <Tile name="Undoing" value={grouped(figures.undoing)} />
        <Tile
          name="Store errors"
          value={grouped(facts.storeErrors)}
          note={
            failingSince === undefined
              ? "met by this process"
              : `failing since ${clock(failingSince)}`
          }
          isBad={failingSince !== undefined}
        />
      </dl>
      <section>
        <h2>Workers</h2>
        {!hasWorker && (
          <p class="bad">
            {workers.length === 0
              ? "No worker runs on this store."
              : "No worker runs on this store: all are silent."}{" "}
            Tasks wait until one starts: <code>app.work()</code>, or{" "}
            <code>npx mcp-parley worker</code>.
          </p>
        )}
        {workers.length > 0 && (
          <div class="wide-table stacks" role="region" tabIndex={0} aria-label="Workers">
            <table>
              <thead>
                <tr>
                  <th scope="col">Worker</th>
                  <th scope="col">Last sign</th>
                  <th scope="col">State</th>
                </tr>
              </thead>
              <tbody>
                {workers.map(({ name, seenAt, isSilent }) => (
                  <tr key={name}>
                    <th scope="row">
                      <code>{name}</code>
                    </th>
                    <td>
                      <When at={seenAt} />
                    </td>
                    <td class={isSilent ? "bad" : ""}>
                      {isSilent ? (
                        "✕ silent"
                      ) : wrong !== undefined ? (
                        <span class="soft">not known</span>
                      ) : (
                        <>
                          <span class="good" aria-hidden="true">
                            ●
                          </span>{" "}
                          alive
                        </>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {silent > 0 && (
          <p class="soft">
            {hasWorker ? "Others take over the tasks of a worker that is silent. It" : "A worker"}{" "}
            stays in this list for a day if it crashed, and leaves the list if it shut down.
          </p>
        )}
      </section>
      <div class="pair">
        <Tally
          title="Refused tokens"
          of={facts.refusedTokens}
          none="No token was refused in this process since it started."
        />
        <Tally
          title="Rounds per call"
          of={facts.roundsPerCall}
          none="No call of rounds has ended in this process since it started. Calls that became tasks do not count."
        />
      </div>
      <section>
        <h2>Audit record</h2>
        <AuditTable records={facts.audit} />
      </section>
    </>
  );
}

/** Empty if there is none, so that its room is kept. */
const oldestText = (ms: number | undefined): string =>
  ms === undefined ? "" : `the oldest for ${rough(ms)}`;

function Tile(props: {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly isBad?: boolean;
}): ComponentChild {
  return (
    <div class={props.isBad === true ? "tile bad" : "tile"}>
      <dt>{props.name}</dt>
      <dd>
        {props.isBad === true && <span aria-hidden="true">▲ </span>}
        {props.value}
        {props.note !== undefined && <small>{props.note}</small>}
      </dd>
    </div>
  );
}

/** Numbers by name, with bars to compare them. */
function Tally(props: {
  readonly title: string;
  readonly of: Readonly<Record<string, number>>;
  readonly none: string;
}): ComponentChild {
  const entries = Object.entries(props.of).filter(([, value]) => value > 0);
  const most = Math.max(1, ...entries.map(([, value]) => value));
  return (
    <section>
      <h2>{props.title}</h2>
      {entries.length === 0 ? (
        <p class="soft">{props.none}</p>
      ) : (
        <dl class="tally">
          {entries.map(([name, value]) => (
            <div key={name}>
              <dt>{name.replaceAll("_", " ")}</dt>
              <dd>
                <span class="bar" style={{ width: `${(value / most) * 60}%` }} />
                {grouped(value)}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
