// Development: the last calls made of rounds.

import type { ComponentChild } from "preact";
import type { CallList, CallRow } from "../wire.ts";
import { duration } from "./format.ts";
import { StatusMark } from "./icons.tsx";
import type { Mark } from "./icons.tsx";
import { useReading } from "./live-reading.ts";
import { Empty, Heading, Problem, Skeleton, When } from "./parts.tsx";
import { href } from "./route.ts";

export function CallsScreen(): ComponentChild {
  const { data, error, reload } = useReading<CallList>(
    "api/calls",
    ({ type }) => type === "call" || type === "any",
  );
  return (
    <div class="screen">
      <Heading title="Calls" />
      {data === undefined ? (
        error === undefined ? (
          <Skeleton lines={8} />
        ) : (
          <Problem refusal={error} retry={reload} />
        )
      ) : data.calls.length === 0 ? (
        <Empty title="No calls yet">
          <p>
            The last 200 calls of this process appear here, round by round.{" "}
            <a href={href(["try"])}>Try a tool</a>, or connect a client.
          </p>
        </Empty>
      ) : (
        <CallTable calls={data.calls} />
      )}
    </div>
  );
}

/** The shape that stands for the state of a call. */
export const callMark = ({ status }: CallRow): Mark => (status === "running" ? "working" : status);

function CallTable({ calls }: { readonly calls: readonly CallRow[] }): ComponentChild {
  return (
    <div class="wide-table stacks" role="region" tabIndex={0} aria-label="Calls, the newest first">
      <table>
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Call</th>
            <th scope="col" class="figure">
              Rounds
            </th>
            <th scope="col">Began</th>
            <th scope="col" class="figure">
              Took
            </th>
            <th scope="col">Principal</th>
          </tr>
        </thead>
        <tbody>
          {calls.map((call) => (
            <tr key={call.id}>
              <td>
                <StatusMark mark={callMark(call)} />
              </td>
              <th scope="row">
                <a href={href(["calls", call.id])}>{call.target}</a>
              </th>
              <td class="figure" data-name="rounds">
                {call.rounds}
              </td>
              <td>
                <When at={call.beganAt} />
              </td>
              <td class="figure" data-name={call.endedAt === undefined ? undefined : "took"}>
                {call.endedAt === undefined ? "" : duration(call.endedAt - call.beganAt)}
              </td>
              <td>{call.principal}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
