// The audit record, as a table.

import type { ComponentChild } from "preact";
import type { AuditFacts } from "../wire.ts";
import { shortId } from "./format.ts";
import { When } from "./parts.tsx";
import { href } from "./route.ts";

export function AuditTable(props: {
  readonly records: readonly AuditFacts[];
  /** Whether all records are of the task that is shown. */
  readonly isOfTask?: boolean;
}): ComponentChild {
  const { records, isOfTask = false } = props;
  if (records.length === 0) {
    return <p class="soft">Nothing is recorded. Answers, decisions and cancellations would be.</p>;
  }
  const columns = ["When", "Action", isOfTask ? "" : "Task", "Key", "Who", "Via", "Note"];
  return (
    <div class="wide-table" role="region" tabIndex={0} aria-label="Audit record">
      <table>
        <thead>
          <tr>
            {columns.filter(Boolean).map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <tr key={record.id}>
              <td>
                <When at={record.at} />
              </td>
              <td>{record.action.replaceAll("_", " ")}</td>
              {!isOfTask && (
                <td>
                  {record.taskId === undefined ? (
                    record.tool
                  ) : (
                    <a href={href(["tasks", record.taskId])}>
                      {record.tool ?? "task"} {shortId(record.taskId)}
                    </a>
                  )}
                </td>
              )}
              <td>
                <code>{record.key}</code>
              </td>
              <td>{record.who ?? record.principal}</td>
              <td>{record.via}</td>
              <td>{noteOf(record)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What someone said or was asked, and who decides about it. */
function noteOf({ note, message, group, needed = 1 }: AuditFacts): string {
  const deciders = group === undefined ? undefined : `group ${group}, ${needed} needed`;
  return [note ?? message, deciders].filter(Boolean).join(" · ");
}
