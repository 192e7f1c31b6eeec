/** Faults in durable steps, their waits and events, on both stores. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const STATES = 'packages/jobmill/test/postgres/plans-states.test.ts'
const EVENTS = 'packages/jobmill/test/postgres/events.test.ts'
const HANDLER = 'packages/jobmill/test/steps/handler.test.ts'
const MILLS = 'packages/jobmill/test/steps/steps.test.ts'
const LOCKS = 'packages/jobmill/test/postgres/step-locks.test.ts'
const OPEN = 'packages/jobmill/test/steps/open-transaction.test.ts'
const DECLARED = 'packages/jobmill/test/steps/declared-events.test.ts'
const MODEL = 'packages/jobmill/test/model/durable.test.ts'
const LIMITS = 'packages/jobmill/test/steps/limits.test.ts'
const SQLITE = 'packages/jobmill/test/conformance/sqlite.test.ts'
const POSTGRES = 'packages/jobmill/test/conformance/postgres.test.ts'

export const STEPS: readonly TestedMutant[] = [
  {
    name: 'postgres: an event reads all waiting jobs',
    file: 'store-postgres/inspect/job-rows.ts',
    find: '`EXISTS (SELECT FROM jobmill.${table} AS t WHERE t.id = w.id OFFSET 0)`',
    replace: '`EXISTS (SELECT FROM jobmill.${table} AS t WHERE t.id = w.id)`',
    test: { file: STATES, name: 'P15 an event reads only the rows of its job' },
  },
  {
    name: 'postgres: an event leaves no wake-up for its job',
    file: 'store-postgres/steps/send.ts',
    find: 'SELECT DISTINCT s.id FROM sent AS s WHERE',
    replace: 'SELECT DISTINCT s.id FROM sent AS s WHERE false AND',
    test: { file: EVENTS, name: 'P18 an event that commits after the park' },
  },
  {
    name: 'postgres: an event for a ready job leaves no wake-up',
    file: 'store-postgres/steps/send.ts',
    find: 'SELECT DISTINCT s.id FROM sent AS s WHERE',
    replace: 'SELECT DISTINCT s.id FROM sent AS s WHERE s.state <> 1 AND',
    test: { file: EVENTS, name: 'P18 a job that was ready when an open transaction' },
  },
  {
    name: 'postgres: a park leaves no wake-up for its job',
    file: 'store-postgres/schema/functions/finish-each.ts',
    find: 'FROM gone AS g WHERE g.parked AND',
    replace: 'FROM gone AS g WHERE false AND g.parked AND',
    test: { file: EVENTS, name: 'P18 a park that commits after the event' },
  },
  {
    name: 'postgres: an event is received by two steps',
    file: 'store-postgres/schema/functions/wait-for.ts',
    find: 'WHERE o.job_id = i.id AND o.step IS NULL AND o.name',
    replace: 'WHERE o.job_id = i.id AND o.name',
    test: { file: POSTGRES, name: 'P18 events of one name are received in their order' },
  },
  {
    name: 'sqlite: an event is received by two steps',
    file: 'store-sqlite/steps/steps.ts',
    find: 'WHERE job_pk = ? AND step IS NULL AND name IN',
    replace: 'WHERE job_pk = ? AND name IN',
    test: { file: SQLITE, name: 'P18 events of one name are received in their order' },
  },
  {
    name: 'sqlite: a step is recorded without the fence',
    file: 'store-sqlite/steps/steps.ts',
    find: 'return job?.state === RUNNING && job.token === token ? job : undefined',
    replace: 'return token > 0 && job?.state !== RUNNING + 100 ? job : undefined',
    test: { file: SQLITE, name: 'P2 P17 a stale token records nothing' },
  },
  {
    name: 'sqlite: a done step is written again',
    file: 'store-sqlite/steps/steps.ts',
    find: '    checkpoint = coalesce(excluded.checkpoint, checkpoint)\n  WHERE ended_at IS NULL`',
    replace: '    checkpoint = coalesce(excluded.checkpoint, checkpoint)\n  WHERE true`',
    test: { file: SQLITE, name: 'P17 a done step keeps its first result' },
  },
  {
    name: 'postgres: a done step is written again',
    file: 'store-postgres/schema/functions/record-steps.ts',
    find: '   WHERE s.ended_at IS NULL\n)',
    replace: '   WHERE true\n)',
    test: { file: POSTGRES, name: 'P17 a done step keeps its first result' },
  },
  {
    name: 'an attempt is parked while another step runs',
    file: 'work/steps/activity.ts',
    find: 'running === 0 && waits.size > 0',
    replace: 'waits.size > 0',
    test: { file: HANDLER, name: 'a running sibling delays the park' },
  },
  {
    name: 'sqlite: a sleep that is over ends every later park at once',
    file: 'store-sqlite/steps/steps.ts',
    find: 'WHERE job_pk = ? AND token = ? AND ended_at IS NULL AND kind IN (1, 2, 4)`',
    replace: 'WHERE job_pk = ? AND token <= ? AND ended_at IS NULL AND kind IN (1, 2, 4)`',
    test: { file: SQLITE, name: 'P18 a wait that ends before its attempt is parked' },
  },
  {
    name: 'postgres: a park forgets a wait that ended just before it',
    file: 'store-postgres/schema/functions/wait-for.ts',
    find: 'min(coalesce(s.due_at, ${NEVER_DUE}))',
    replace: 'min(CASE WHEN s.due_at > ${at} THEN s.due_at ELSE ${NEVER_DUE} END)',
    test: { file: POSTGRES, name: 'P18 a wait that ends before its attempt is parked' },
  },
  {
    name: 'retries ignore recorded steps',
    file: 'work/steps/attempt-steps.ts',
    find: 'if (item.isDone) attempt.countsAs = 1',
    replace: 'if (item.isDone) attempt.countsAs += 0',
    test: { file: MILLS, name: 'retries are counted from the last recorded step' },
  },
  {
    name: 'postgres: waits lock their jobs in the order of the call',
    file: 'store-postgres/steps/record.ts',
    find: 'some.toSorted((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))',
    replace: 'some',
    test: { file: LOCKS, name: 'do not deadlock' },
  },
  {
    name: 'a step is written while a transaction that completes its job is open',
    file: 'work/steps/coalesce.ts',
    find: 'let left = notCompleted(batch)',
    replace: 'let left = batch',
    test: { file: OPEN, name: 'P17 a step that still runs when its job is completed' },
  },
  {
    name: 'an event that exceeds the limit of a job is received only by the next attempt',
    file: 'work/steps/attempt-steps.ts',
    find: 'memos.count(waited.result)',
    replace: 'memos.add(waited.result)',
    test: { file: LIMITS, name: 'P18 an event that exceeds it' },
  },
  {
    name: 'sqlite: an event for one kind is stored for a job of another',
    file: 'store-sqlite/steps/send.ts',
    find: 'return own === kind ? undefined : own',
    replace: 'return own.length > 0 ? undefined : own',
    test: { file: SQLITE, name: 'an event for one kind is not stored' },
  },
  {
    name: 'postgres: an event for one kind is stored for a job of another',
    file: 'store-postgres/steps/send.ts',
    find: '} AND s.other_kind IS NULL`',
    replace: '}`',
    test: { file: POSTGRES, name: 'an event for one kind is not stored' },
  },
  {
    name: 'sendEvent stores an event before its schema has accepted it',
    file: 'runtime/operate/send-event.ts',
    find: 'if (checking !== undefined) await checking',
    replace: 'checking?.catch(() => {})',
    test: { file: DECLARED, name: 'an asynchronous schema is awaited' },
  },
  {
    name: 'a wait ignores the declared schema of its event',
    file: 'work/steps/attempt-steps.ts',
    find: "const { schema = schemaOfEvent(declared, received.event, 'event') } = options",
    replace: 'const { schema } = options',
    test: { file: DECLARED, name: 'an event that was sent without the definition' },
  },
  {
    name: 'sqlite: a wait is written without the fence',
    file: 'store-sqlite/steps/steps.ts',
    find: 'return job === undefined ? REFUSED : waitFor(work, job, item)',
    replace:
      'const any = job ?? findJob(work.sql, item.id)\n    return any === undefined ? REFUSED : waitFor(work, any, item)',
    test: { file: MODEL, name: 'P17 P18 sqlite, postgres with batches' },
  },
  {
    name: 'sqlite: the last child wakes its parent only if it is done',
    file: 'store-sqlite/steps/child-ends.ts',
    find: 'if (parent !== undefined) wakeIfArrived(work, parent.id)',
    replace: 'if (parent !== undefined && end.error === null) wakeIfArrived(work, parent.id)',
    test: { file: MODEL, name: 'P17 P18 sqlite, postgres with batches' },
  },
]
