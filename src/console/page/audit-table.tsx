// The audit record, as a table.

import type { ComponentChild } from "preact";
import type { AuditFacts } from "../wire.ts";
import { actionText, whoOf } from "./audit-words.ts";
import { shortId } from "./format.ts";
import { session } from "./frame.tsx";
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
  const isSealed = records.some(({ action }) => action === "sealed");
  const columns = ["When", "What", isOfTask ? "" : "Task", "Who", "About"];
  return (
    <div class="wide-table stacks" role="region" tabIndex={0} aria-label="Audit record">
      {isSealed && (
        <p class="above">
          {session.value?.hasKeys === false
            ? "Records are sealed. To read them, open the console with the keys of the server."
            : "Some records are sealed with keys that this console does not have."}
        </p>
      )}
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
                <When at={record.at} isTimed />
              </td>
              <td>
                {actionText(record.action)} <code>{record.key}</code>
              </td>
              {!isOfTask && (
                <td>
                  {record.taskId === undefined ? (
                    (record.tool ?? (record.callId && `call ${shortId(record.callId)}`))
                  ) : (
                    <a href={href(["tasks", record.taskId])}>
                      {record.tool ?? "task"} {shortId(record.taskId)}
                    </a>
                  )}
                </td>
              )}
              <td class="breaks">
                {whoOf(record)} <span class="soft">{waysIn[record.via ?? ""] ?? record.via}</span>
              </td>
              <td>{aboutOf(record)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const waysIn: Readonly<Record<string, string>> = {
  form: "in a form",
  url: "on a page",
  link: "on a page",
  app: "in the App",
  relay: "through the model",
  delivery: "by the server's code",
  console: "in the console",
};

/** What someone said or was asked, and who decides about it. */
function aboutOf({ note, message, group, needed = 1, keyId }: AuditFacts): string {
  if (keyId !== undefined) return `with the key ${keyId}`;
  const deciders =
    group === undefined ? undefined : `for ${group}${needed > 1 ? `, ${needed} needed` : ""}`;
  return [note ?? message, deciders].filter(Boolean).join(" · ");
}
