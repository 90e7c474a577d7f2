// One statement an operation, for READ COMMITTED. Two ways make them safe, and each statement names its own:
//
// - "one row, one update": Postgres waits for whoever is at the row, then looks at the condition and computes the
//   new values again with the row as it is now.
// - "locked first": `for update` waits in the same way and gives the newest row; all the rest is computed from
//   what it gave, and nobody can change the row until the statement is over.
//
// What is read beside the locked row (the log) is as old as the statement's start: where that matters it is said.

export type TaskStatement =
  | ("create" | "read" | "readByCall" | "readLog" | "listOwn" | "listAll" | "answer" | "cancel")
  | ("revisions" | "claim" | "renew" | "append" | "park" | "publish" | "release" | "report")
  | ("finish" | "leave" | "forget" | "expired" | "layToRest" | "forgetSpills" | "forgetRounds")
  | ("forgetWorkers" | "figures");

const columns = (
  "id call_id tool principal status revision epoch worker due_at waits inbox asked log_length log_bytes fruitless " +
  "cause input status_message result rest created_at updated_at expires_at"
).split(" ");

const record = (of: string): string => columns.map((column) => `${of}.${column}`).join(", ");

const isLive = (of: string): string => `${of}.status in ('working', 'input_required')`;

/** Who holds the lease may write: `holds` in task.ts. */
const isHeld = (of: string): string => `${isLive(of)} and ${of}.worker is not null`;

export function taskStatements(schema: string): Readonly<Record<TaskStatement, string>> {
  const now = `${schema}.parley_now()`;

  /** For `park` and `publish`, which differ in what becomes of the worker. */
  const waiting = (more: string): string => `
    with task as (
      select task.* from ${schema}.tasks as task
      where task.id = $1 and task.epoch = $2 and ${isHeld("task")}
      for update
    ),
    unread as (
      select
        coalesce(jsonb_agg(arrival.value order by arrival.place), '[]') as inbox,
        coalesce(array_agg(arrival.value ->> 'key'), '{}') as keys
      from task, jsonb_array_elements(task.inbox) with ordinality as arrival (value, place)
      where arrival.value ->> 'id' <> all ($5::text[])
    ),
    open as (
      select
        coalesce(jsonb_agg(wait.value order by wait.place), '[]') as waits,
        coalesce(bool_or(wait.value ->> 'kind' = 'question'), false) as asks,
        ceil(min((wait.value ->> 'dueAt')::numeric))::bigint as due_at
      from unread, jsonb_array_elements($3::jsonb) with ordinality as wait (value, place)
      where wait.value ->> 'kind' = 'timer' or wait.value ->> 'key' <> all (unread.keys)
    ),
    due as (
      select case
        when jsonb_array_length(open.waits) < jsonb_array_length($3::jsonb) then ${now}
        else open.due_at
      end as at
      from open
    )
    update ${schema}.tasks as target set
      revision = task.revision + 1,
      updated_at = ${now},
      status = case when open.asks then 'input_required' else 'working' end,
      waits = open.waits,
      asked = task.asked || $4::jsonb,
      inbox = unread.inbox${more}
    from task, unread, open, due
    where target.id = task.id
    returning target.id, target.worker is null and target.due_at <= ${now} as is_due`;

  /** Due again at once, and nothing used up. */
  const isFruitless = `coalesce(due.at <= ${now}, false) and cardinality($5::text[]) = 0`;

  const list = (whose: string): string => `
    select ${record("task")} from ${schema}.tasks as task
    where task.rest is null and ${whose} and (task.created_at, task.id) < ($2::bigint, $3)
    order by task.created_at desc, task.id desc
    limit $4`;

  return {
    // ---------------------------------------------------------------- anyone

    // Safe: the unique index on call_id lets one of two through; the other waits for it and inserts nothing.
    // The count is as old as the statement's start, which the contract allows.
    create: `
    with live as (
      select count(*) as number from (
        select from ${schema}.tasks as task
        where $14::bigint is not null and task.principal = $4 and ${isLive("task")}
        limit $14
      ) as few
    ),
    made as (
      insert into ${schema}.tasks (
        id, call_id, tool, principal, input, inbox, log_length, log_bytes,
        worker, epoch, fruitless, due_at, created_at, updated_at, expires_at,
        status, revision, waits, asked
      )
      select
        $1, $2, $3, $4, $5, $6::jsonb, $7, $8,
        $9, $10, $10, ${now} + $11::bigint, ${now}, ${now}, ${now} + $12::bigint,
        'working', 1, '[]', '{}'
      from live
      where $14::bigint is null or live.number < $14
      on conflict do nothing
      returning *
    ),
    logged as (
      insert into ${schema}.log (task_id, seq, record)
      select made.id, entry.place - 1, entry.value
      from made, unnest($13::text[]) with ordinality as entry (value, place)
    )
    select $14::bigint is null or live.number < $14 as fits, ${record("made")}
    from live left join made on true`,

    // Safe: reads one row.
    read: `
    select ${record("task")} from ${schema}.tasks as task where task.id = $1`,

    // Safe: reads one row.
    readByCall: `
    select ${record("task")} from ${schema}.tasks as task where task.call_id = $1`,

    // Safe: an append adds all its records in one transaction.
    readLog: `
    select coalesce(json_agg(entry.record order by entry.seq), '[]') as log
    from ${schema}.log as entry where entry.task_id = $1`,

    // Safe: only reads. Two statements, because each has its own index.
    listOwn: list("task.principal = $1"),
    listAll: list("$1::text is null"),

    // Safe: locked first.
    answer: `
    with task as (
      select task.* from ${schema}.tasks as task where task.id = $1 for update
    ),
    given as (
      select
        answer.value ->> 'wire' as wire,
        answer.value -> 'value' as value,
        answer.value -> 'early' as early,
        answer.place
      from jsonb_array_elements($2::jsonb) with ordinality as answer (value, place)
    ),
    asked as (
      select
        wait.place,
        given.wire,
        jsonb_strip_nulls(jsonb_build_object(
          'id', given.wire,
          'key', wait.value -> 'key',
          'digest', coalesce(wait.value ->> 'digest', ''),
          'value', given.value,
          'at', ${now},
          'dueAt', wait.value -> 'dueAt'
        )) as arrival
      from task
        cross join jsonb_array_elements(task.waits) with ordinality as wait (value, place)
        cross join lateral (
          select * from given
          where given.wire = wait.value ->> 'wire'
          order by given.place desc
          limit 1
        ) as given
      where ${isLive("task")} and wait.value ->> 'kind' <> 'timer'
    ),
    early as (
      select distinct on (given.early ->> 'key')
        given.place,
        given.wire,
        jsonb_build_object(
          'id', given.wire,
          'key', given.early -> 'key',
          'digest', given.early -> 'digest',
          'value', given.value,
          'at', ${now}
        ) as arrival
      from task, given
      where ${isLive("task")}
        and given.early is not null
        and not task.asked ? (given.early ->> 'key')
      order by given.early ->> 'key', given.place
    ),
    accepted as (
      select
        jsonb_agg(each.arrival order by each.is_early, each.place) as inbox,
        json_agg(each.wire order by each.is_early, each.place) as wires
      from (
        select false as is_early, asked.* from asked
        union all
        select true, early.* from early
      ) as each
    ),
    open as (
      select
        coalesce(jsonb_agg(wait.value order by wait.place), '[]') as waits,
        coalesce(bool_or(wait.value ->> 'kind' = 'question'), false) as asks
      from task, jsonb_array_elements(task.waits) with ordinality as wait (value, place)
      where not exists (select from asked where asked.wire = wait.value ->> 'wire')
    ),
    answered as (
      update ${schema}.tasks as target set
        revision = task.revision + 1,
        updated_at = ${now},
        status = case when open.asks then 'input_required' else 'working' end,
        waits = open.waits,
        asked = task.asked || coalesce(
          (select jsonb_object_agg(early.arrival ->> 'key', 1) from early), '{}'
        ),
        inbox = task.inbox || accepted.inbox,
        due_at = case when task.worker is null then ${now} else task.due_at end
      from task, accepted, open
      where target.id = task.id and accepted.inbox is not null
      returning target.*
    )
    select ${record("answered")}, accepted.wires as accepted
    from answered, accepted
    union all
    select ${record("task")}, '[]'
    from task
    where not exists (select from answered)`,

    // Safe: one row, one update.
    cancel: `
    update ${schema}.tasks as task set
      status = 'cancelled',
      epoch = task.epoch + 1,
      revision = task.revision + 1,
      updated_at = ${now},
      worker = null,
      due_at = null,
      waits = '[]',
      inbox = '[]',
      expires_at = greatest(task.expires_at, ${now} + $2::bigint)
    where task.id = $1 and ${isLive("task")}
    returning ${record("task")}`,

    // Safe: only reads.
    revisions: `
    select task.id, task.revision from ${schema}.tasks as task where task.id = any ($1::text[])`,

    // ---------------------------------------------------------------- workers

    // Safe: locked first, and whoever comes at the same time passes over the locked ones. The log is as old as the
    // statement's start: one to which the worker before has added since is read again (see `PostgresStore.claim`).
    claim: `
    with wanted as materialized (
      select task.id, task.worker, task.due_at from ${schema}.tasks as task
      where task.due_at <= ${now} and task.tool = any ($2::text[])
      order by task.due_at, task.id
      limit $3
      for update skip locked
    ),
    claimed as (
      update ${schema}.tasks as target set
        worker = $1,
        epoch = target.epoch + 1,
        due_at = ${now} + $4::bigint,
        fruitless = target.fruitless + 1
      from wanted
      where target.id = wanted.id
      returning target.*, wanted.worker as before, wanted.due_at as was_due_at
    ),
    other as (
      select task.due_at from ${schema}.tasks as task
      where task.due_at is not null
        and task.tool = any ($2::text[])
        and task.id <> all (array(select wanted.id from wanted))
      order by task.due_at
      limit 1
    ),
    clock as (
      select
        ${now} as now,
        least(
          (select other.due_at from other),
          (select ${now} + $4::bigint from wanted limit 1)
        ) as next_due_at
    )
    select
      clock.now, clock.next_due_at, claimed.before, ${record("claimed")},
      (
        select coalesce(json_agg(entry.record order by entry.seq), '[]')
        from ${schema}.log as entry where entry.task_id = claimed.id
      ) as log
    from clock left join claimed on true
    order by claimed.was_due_at, claimed.id`,

    // Safe: locked first, all in one order, so that two of these cannot wait for one another.
    renew: `
    with seen as (
      insert into ${schema}.workers (id, seen_at) values ($1, ${now})
      on conflict (id) do update set seen_at = excluded.seen_at
    ),
    held as (
      select task.id
      from ${schema}.tasks as task
        join unnest($2::text[], $3::integer[]) as ref (id, epoch)
          on ref.id = task.id and ref.epoch = task.epoch
      where ${isHeld("task")}
      order by task.id
      for update of task
    ),
    renewed as (
      update ${schema}.tasks as target set due_at = ${now} + $4::bigint
      from held
      where target.id = held.id
      returning target.id, target.inbox
    )
    select clock.now, renewed.id, renewed.inbox
    from (select ${now} as now) as clock left join renewed on true`,

    // Safe: locked first. What was done before is seen in the newest row, also where the first attempt was
    // still under way when this one began.
    append: `
    with task as (
      select task.* from ${schema}.tasks as task
      where task.id = $1 and task.epoch = $2 and ${isLive("task")}
      for update
    ),
    unread as (
      select coalesce(jsonb_agg(arrival.value order by arrival.place), '[]') as inbox
      from task, jsonb_array_elements(task.inbox) with ordinality as arrival (value, place)
      where arrival.value ->> 'id' <> all ($6::text[])
    ),
    appended as (
      update ${schema}.tasks as target set
        inbox = $7::jsonb || unread.inbox,
        log_length = task.log_length + cardinality($4::text[]),
        log_bytes = task.log_bytes + $5::bigint,
        fruitless = 0,
        cause = null
      from task, unread
      where target.id = task.id
        and task.worker is not null
        and task.log_length = $3
      returning target.id
    ),
    written as (
      insert into ${schema}.log (task_id, seq, record)
      select appended.id, $3 + entry.place - 1, entry.value
      from appended, unnest($4::text[]) with ordinality as entry (value, place)
    )
    select
      exists (select from appended)
        or exists (
          select from task
          where cardinality($4::text[]) > 0 and task.log_length = $3 + cardinality($4::text[])
        ) as is_done`,

    // Safe: locked first. An answer comes before it and is in the inbox, or after it and makes the task due.
    park: waiting(`,
      worker = null,
      due_at = due.at,
      fruitless = case when ${isFruitless} then task.fruitless else 0 end,
      cause = case when ${isFruitless} then task.cause end`),

    // Safe: as `park`.
    publish: waiting(""),

    // Safe: one row, one update.
    release: `
    update ${schema}.tasks as task set
      worker = null,
      due_at = ${now} + $3::bigint,
      fruitless = greatest(0, task.fruitless - case when $4::boolean then 0 else 1 end),
      cause = coalesce($5, task.cause)
    where task.id = $1 and task.epoch = $2 and ${isHeld("task")}
    returning task.id, task.due_at <= ${now} as is_due`,

    // Safe: one row, one update.
    report: `
    update ${schema}.tasks as task set
      revision = task.revision + 1,
      updated_at = ${now},
      status_message = $3
    where task.id = $1 and task.epoch = $2 and ${isHeld("task")}
    returning task.id`,

    // Safe: locked first, so what was done before is seen as with `append`.
    finish: `
    with task as (
      select task.* from ${schema}.tasks as task
      where task.id = $1 and task.epoch = $2
      for update
    ),
    finished as (
      update ${schema}.tasks as target set
        status = $3,
        result = $4,
        status_message = coalesce($5, task.status_message),
        revision = task.revision + 1,
        updated_at = ${now},
        worker = null,
        due_at = null,
        waits = '[]',
        inbox = '[]',
        expires_at = greatest(task.expires_at, ${now} + $6::bigint)
      from task
      where target.id = task.id and ${isHeld("task")}
      returning target.id
    )
    select
      exists (select from finished) as is_finished,
      exists (select from task where task.status = $3) as was_finished`,

    // Safe: one row.
    leave: `
    delete from ${schema}.workers where id = $1`,

    // ---------------------------------------------------------------- the sweeper: passes over what others are at

    // Safe: locked first. Nothing happens to a task at rest but this.
    forget: `
    delete from ${schema}.tasks where id in (
      select task.id from ${schema}.tasks as task
      where task.expires_at <= ${now} and task.rest is not null
      order by task.expires_at
      limit $1
      for update skip locked
    )
    returning id`,

    // Safe: the first of two statements in a transaction. The locks last until its end.
    expired: `
    select task.id from ${schema}.tasks as task
    where task.expires_at <= ${now} and task.rest is null
    order by task.expires_at
    limit $1
    for update skip locked`,

    // Safe: the second one. It sees all that was added to the logs before the rows were locked.
    layToRest: `
    with emptied as (
      delete from ${schema}.log as entry where entry.task_id = any ($1::text[])
    )
    update ${schema}.tasks as task set
      revision = task.revision + case when ${isLive("task")} then 1 else 0 end,
      updated_at = case when ${isLive("task")} then ${now} else task.updated_at end,
      status = case when ${isLive("task")} then 'failed' else task.status end,
      rest = case when ${isLive("task")} then 'expired' else 'removed' end,
      epoch = task.epoch + 1,
      worker = null,
      due_at = null,
      waits = '[]',
      inbox = '[]',
      asked = '{}',
      log_length = 0,
      log_bytes = 0,
      cause = null,
      input = '',
      status_message = null,
      result = null,
      expires_at = ${now} + $2::bigint
    where task.id = any ($1::text[])
    returning task.id, task.rest`,

    // Safe: a state is written once. One that is written again just now is passed over.
    forgetSpills: `
    delete from ${schema}.spills where id in (
      select spill.id from ${schema}.spills as spill
      where spill.expires_at <= ${now}
      order by spill.expires_at
      limit $1
      for update skip locked
    )`,

    // Safe: locked first, so one that is claimed again just now is passed over or looked at again.
    forgetRounds: `
    delete from ${schema}.rounds where call_id in (
      select round.call_id from ${schema}.rounds as round
      where round.expires_at <= ${now}
      order by round.expires_at
      limit $1
      for update skip locked
    )`,

    // Safe: a worker that is there after all notes it again with its next renewal.
    forgetWorkers: `
    delete from ${schema}.workers where id in (
      select worker.id from ${schema}.workers as worker
      where worker.seen_at <= ${now} - 86400000
      for update skip locked
    )`,

    // ---------------------------------------------------------------- operators

    // Safe: only reads.
    figures: `
    select
      ${now} as now,
      count(*) as live,
      count(task.worker) as held,
      count(*) filter (
        where task.worker is null and (task.due_at is null or task.due_at > ${now})
      ) as parked,
      count(*) filter (where task.status = 'input_required') as input_required,
      count(*) filter (where task.due_at <= ${now}) as due,
      min(task.due_at) filter (where task.due_at <= ${now}) as oldest_due_at,
      (select max(worker.seen_at) from ${schema}.workers as worker) as worker_seen_at
    from ${schema}.tasks as task
    where ${isLive("task")}`,
  };
}
