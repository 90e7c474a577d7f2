// Everything that waits for a person, answered in place.

import { signal } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { AuditList, Inbox, InboxItem } from "../wire.ts";
import { count } from "./format.ts";
import { cannot, InboxCard } from "./inbox-card.tsx";
import { divisions, sectionsOf, settledBy, shownAfter, toldBy } from "./inbox-list.ts";
import type { Settled, ShownItem } from "./inbox-list.ts";
import { useReading } from "./live-reading.ts";
import { Empty, Heading, Problem, Skeleton } from "./parts.tsx";
import { refine, route } from "./route.ts";
import { read } from "./server.ts";
import { session } from "./frame.tsx";

const pageLength = 100;

export function InboxScreen(): ComponentChild {
  const { query } = route.value;
  const group = query.get("group") ?? "";
  const tool = query.get("tool") ?? "";
  const division = divisions.find((one) => one === query.get("by")) ?? "age";
  const filters = new URLSearchParams({ ...(group && { group }), ...(tool && { tool }) });
  return (
    <div class="screen">
      <Heading title="Inbox" />
      {cannot.value !== undefined && <p class="soft">{cannot.value}</p>}
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <fieldset class="chips">
          <legend class="unseen">Divide by</legend>
          <span class="soft" aria-hidden="true">
            By
          </span>
          {divisions.map((one) => (
            <label key={one} class={one === division ? "chip on" : "chip"}>
              <input
                type="radio"
                name="by"
                checked={one === division}
                onChange={() => refine({ by: one === "age" ? "" : one })}
              />
              {one === "age" ? "Age" : one === "group" ? "Group" : "Tool"}
            </label>
          ))}
        </fieldset>
        <div class="inputs">
          <Choice name="group" label="Group" value={group} />
          <Choice name="tool" label="Tool" value={tool} />
        </div>
      </form>
      <InboxItems
        key={filters.toString()}
        filters={filters.toString()}
        division={division}
        isFiltered={group !== "" || tool !== ""}
      />
    </div>
  );
}

/** The groups and tools that the inbox has had since the page was opened. */
const known = signal<Readonly<Record<"group" | "tool", ReadonlySet<string>>>>({
  group: new Set(),
  tool: new Set(),
});

function remember(items: readonly InboxItem[]): void {
  const { group, tool } = known.peek();
  const groups = items.flatMap((item) => item.group ?? []);
  known.value = {
    group: new Set([...group, ...groups]),
    tool: new Set([...tool, ...items.map((item) => item.tool)]),
  };
}

function Choice(props: {
  readonly name: "group" | "tool";
  readonly label: string;
  readonly value: string;
}): ComponentChild {
  const { name, label, value } = props;
  const own = name === "group" ? (session.value?.groups ?? []) : [];
  const offered = [
    ...new Set([...own, ...known.value[name], ...(value ? [value] : [])]),
  ].toSorted();
  return (
    <label>
      <span>{label}</span>
      <select
        name={name}
        value={value}
        onChange={({ currentTarget }) => refine({ [name]: currentTarget.value })}
      >
        <option value="">Any</option>
        {offered.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  );
}

function InboxItems(props: {
  readonly filters: string;
  readonly division: (typeof divisions)[number];
  readonly isFiltered: boolean;
}): ComponentChild {
  const { filters, division, isFiltered } = props;
  const address = `api/inbox?${filters}&limit=${pageLength}`;
  const reading = useReading<Inbox>(address);
  const [next, setNext] = useState<string>();
  const [shown, setShown] = useState<readonly ShownItem[]>();
  const [open, setOpen] = useState<string>();
  useEffect(() => {
    if (reading.data === undefined) return;
    const { items } = reading.data;
    remember(items);
    setShown((before = []) => shownAfter(before, items, reading.data?.next === undefined));
    setNext((before) => before ?? reading.data?.next);
  }, [reading.data]);
  useTelling(reading.data, shown, (id, records) =>
    setShown((before = []) => before.map((one) => (one.id === id ? toldBy(one, records) : one))),
  );
  const readMore = async (after: string) => {
    const page = await read<Inbox>(`${address}&after=${encodeURIComponent(after)}`);
    remember(page.items);
    setShown((before = []) => [...before, ...shownAfter([], page.items, true)]);
    setNext(page.next);
  };

  if (shown === undefined) {
    return reading.error === undefined ? (
      <Skeleton lines={4} tall />
    ) : (
      <Problem refusal={reading.error} retry={reading.reload} />
    );
  }
  if (shown.length === 0) return <NothingWaits isFiltered={isFiltered} />;
  const settled = shown.filter(({ outcome }) => outcome !== undefined).length;
  const settle = (id: string, how: Settled) => {
    setShown((before = []) => before.map((one) => (one.id === id ? settledBy(one, how) : one)));
    setOpen(undefined);
    reading.reload();
  };
  return (
    <>
      {sectionsOf(shown, division).map(({ title, items }) => (
        <section key={title} class="cards">
          <h2>
            {title}{" "}
            <span class="soft">
              · {items.filter(({ outcome }) => outcome === undefined).length}
            </span>
          </h2>
          <ul>
            {items.map((one) => (
              <li key={one.id}>
                <InboxCard
                  {...one}
                  isOpen={open === one.id}
                  setOpen={(is) => setOpen(is ? one.id : undefined)}
                  settle={(how) => settle(one.id, how)}
                  reload={reading.reload}
                />
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p class="sum">
        {count(shown.length - settled, "item")} waiting
        {settled > 0 && (
          <button
            type="button"
            class="link"
            onClick={() => setShown(shown.filter(({ outcome }) => outcome === undefined))}
          >
            Clear {settled} answered
          </button>
        )}
        {next !== undefined && (
          <button type="button" class="link" onClick={() => void readMore(next).catch(() => {})}>
            Show more
          </button>
        )}
      </p>
    </>
  );
}

/** How often the page looks for what became of an item. Its record can be a moment later than its end. */
const mostLooks = 3;

/** Looks for what became of the items that are gone, once for each time that the inbox was read. */
function useTelling(
  inbox: Inbox | undefined,
  shown: readonly ShownItem[] = [],
  tell: (id: string, records: AuditList["records"]) => void,
): void {
  const looks = useRef(new Map<string, { readonly after: Inbox | undefined; times: number }>());
  useEffect(() => {
    for (const { id, item, stage } of shown) {
      const occasion = `${id} ${item.since}`;
      const { after, times } = looks.current.get(occasion) ?? { times: 0 };
      if (stage !== "gone" || times === mostLooks || (times > 0 && after === inbox)) continue;
      looks.current.set(occasion, { after: inbox, times: times + 1 });
      read<AuditList>(`api/audit?call=${encodeURIComponent(item.callId)}`).then(
        ({ records }) => tell(id, records),
        () => {},
      );
    }
  }, [shown]);
}

function NothingWaits({ isFiltered }: { readonly isFiltered: boolean }): ComponentChild {
  if (isFiltered) {
    return (
      <Empty title="Nothing waits here">
        <p>
          <button type="button" class="link" onClick={() => refine({ group: "", tool: "" })}>
            Show everything that waits
          </button>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Nobody has to do anything">
      <p>
        Approvals, waits and questions of tasks appear here as soon as a tool asks for them with{" "}
        <code>ctx.approve</code>, <code>ctx.waitFor</code> or <code>ctx.ask</code>.
      </p>
    </Empty>
  );
}
