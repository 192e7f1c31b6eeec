/** Faults outside the reach of the simulator. One test must find each. */
import { ACCESS } from './faults/access.ts'
import { ALERTS } from './faults/alerts.ts'
import { CONNECTIONS } from './faults/connections.ts'
import { ANSWERS } from './faults/stores/answers.ts'
import { AUDIT } from './faults/audit.ts'
import { ERROR_GROUPS } from './faults/errors.ts'
import { FILES } from './faults/stores/files.ts'
import type { TestedMutant } from './mutant.ts'
import { BATCHES } from './faults/stores/batches.ts'
import { OUTCOMES } from './faults/stores/outcomes.ts'
import { OVERRIDES } from './faults/overrides.ts'
import { PROCESSES } from './faults/processes.ts'
import { REPLACED } from './faults/stores/replaced.ts'
import { RUNTIME } from './faults/runtime.ts'
import { USERS } from './faults/users.ts'

const TESTS = 'packages/jobmill/test'
const CONTRACT = `${TESTS}/conformance/postgres.test.ts`

export const TESTED: readonly TestedMutant[] = [
  ...ACCESS,
  ...ALERTS,
  ...CONNECTIONS,
  ...ANSWERS,
  ...AUDIT,
  ...ERROR_GROUPS,
  ...FILES,
  ...BATCHES,
  ...OUTCOMES,
  ...OVERRIDES,
  ...PROCESSES,
  ...REPLACED,
  ...RUNTIME,
  ...USERS,
  {
    name: 'a lease is released although its job arrived during the comparison',
    file: 'dispatch/compare.ts',
    find: ' && !after.has(keyOf(lease))',
    replace: '',
    test: {
      file: `${TESTS}/dispatch/compare.test.ts`,
      name: 'keeps a lease that starts or ends during the comparison',
    },
  },
  {
    name: 'postgres: a crash is not reverted when its process reconnects',
    file: 'store-postgres/instances/lost-jobs.ts',
    find: 'UPDATE jobmill.ready AS t SET crashes = greatest(t.crashes - i.n, 0)',
    replace: 'UPDATE jobmill.ready AS t SET crashes = greatest(t.crashes, 0)',
    test: { file: CONTRACT, name: 'reverts its crashes, once' },
  },
  {
    name: 'postgres: a crash is reverted although a handler blocked the process',
    file: 'store-postgres/instances/lost-jobs.ts',
    find: '  if (stoodStill) return\n',
    replace: '',
    test: { file: CONTRACT, name: 'an instance that stalled stay counted' },
  },
  {
    name: 'postgres: a job that a reverted crash made dead does not say that its key is taken',
    file: 'store-postgres/instances/lost-jobs.ts',
    find: 'if (refused.length > 0)',
    replace: 'if (refused.length < 0)',
    test: { file: CONTRACT, name: 'says that another job holds its key' },
  },
  {
    name: 'sqlite: a job that a reverted crash made dead does not say that its key is taken',
    file: 'store-sqlite/instances/lost-jobs.ts',
    find: "revive(work, job).verdict === 'refused'",
    replace: "revive(work, job).verdict === 'unknown'",
    test: {
      file: `${TESTS}/conformance/sqlite.test.ts`,
      name: 'says that another job holds its key',
    },
  },
  {
    name: 'a job with the payload of a newer release is dead at once',
    file: 'job/attempt/decide.ts',
    find: 'return unfit(ended.error, circumstances)',
    replace:
      "return { outcome: 'failed-permanently', transition: { to: 'dead', refund: true }, error: errorText(ended.error) }",
    test: { file: `${TESTS}/unit/decide.test.ts`, name: 'spends no attempt while the job is young' },
  },
  {
    name: 'a second completion with another result is ignored',
    file: 'work/outcome/complete.ts',
    find: 'if (reply.again === true && before !== resultOf(item)) throw completedTwice(attempt)',
    replace: '',
    test: { file: `${TESTS}/runtime/complete.test.ts`, name: 'a second completion with another result' },
  },
  {
    name: 'postgres: finish does not check the lease token',
    file: 'store-postgres/schema/functions/finish-each.ts',
    find: 'AND r.id = i.id AND r.token = i.token\n',
    replace: 'AND r.id = i.id\n',
    test: { file: CONTRACT, name: 'the attempt number is not the fence' },
  },
  {
    name: 'postgres: the fast path of finish does not check the lease token',
    file: 'store-postgres/schema/functions/finish.ts',
    find: 'AND r.id = i.id AND r.token = i.token AND r.flags = 0 AND r.tries <= longest',
    replace: 'AND r.id = i.id AND r.flags = 0 AND r.tries <= longest',
    test: { file: CONTRACT, name: 'the attempt number is not the fence' },
  },
  {
    name: 'sqlite: any attempt can release a permit',
    file: 'store-sqlite/limits/acquire.ts',
    find: 'isOwn(work, held) && ',
    replace: '',
    test: {
      file: `${TESTS}/conformance/sqlite.test.ts`,
      name: 'a permit is released only under its own token',
    },
  },
  {
    name: 'postgres: any attempt can release a permit',
    file: 'store-postgres/limits/permits.ts',
    find: 'AND t.token IS NOT DISTINCT FROM x.token FOR UPDATE',
    replace: 'FOR UPDATE',
    test: { file: CONTRACT, name: 'a permit is released only under its own token' },
  },
  {
    name: 'postgres: a scan cursor is never reset',
    file: 'store-postgres/claim/scan-cursors.ts',
    find: 'const isDue = lanes.disturbed || !lanes.isDrained || now >= lanes.fullFrom',
    replace: 'const isDue = false',
    test: { file: `${TESTS}/postgres/cursors.test.ts`, name: 'a job that commits late, below a scan cursor' },
  },
  {
    name: 'postgres: the scan cursor of due jobs is never reset',
    file: 'store-postgres/claim/due-cursor.ts',
    find: 'now < notBefore ? floor : null',
    replace: 'notBefore > 0 ? floor : null',
    test: { file: `${TESTS}/postgres/due-cursor.test.ts`, name: 'after a slow scan' },
  },
  {
    name: 'postgres: the reaper reads an old snapshot',
    file: 'store-postgres/instances/reap.ts',
    find: `gone AS (
  DELETE FROM jobmill.running AS r USING over AS o WHERE r.instance = o.id AND r.id = ANY (ARRAY(
    SELECT h.id FROM jobmill.running AS h WHERE h.instance = ANY (ARRAY(SELECT id FROM over)) FOR UPDATE SKIP LOCKED))
  RETURNING r.*, o.lost, o.on_dead, r.crashes + o.lost::int4 AS crashes_now,
    CASE WHEN r.cancel_reason IS NOT NULL THEN \${cancelled}
         WHEN o.lost AND r.crashes + 1 >= (SELECT (p ->> 'crashes')::int4 FROM given) THEN \${dead}
         ELSE \${ready} END AS state
)`,
    replace: `removed AS (
  DELETE FROM jobmill.running AS r WHERE r.id = ANY (ARRAY(
    SELECT h.id FROM jobmill.running AS h WHERE h.instance = ANY (ARRAY(SELECT id FROM over)) FOR UPDATE SKIP LOCKED))
), gone AS (
  SELECT r.*, o.lost, o.on_dead, r.crashes + o.lost::int4 AS crashes_now,
    CASE WHEN r.cancel_reason IS NOT NULL THEN \${cancelled}
         WHEN o.lost AND r.crashes + 1 >= (SELECT (p ->> 'crashes')::int4 FROM given) THEN \${dead}
         ELSE \${ready} END AS state
    FROM jobmill.running AS r JOIN over AS o ON o.id = r.instance
)`,
    test: { file: `${TESTS}/postgres/open-transactions.test.ts`, name: 'does not block the reaper' },
  },
  {
    name: 'postgres: the reaper ignores the lease token',
    file: 'store-postgres/instances/reap.ts',
    find: `WHERE r.instance = o.id AND r.id = ANY (ARRAY(
    SELECT h.id FROM jobmill.running AS h WHERE h.instance = ANY (ARRAY(SELECT id FROM over)) FOR UPDATE SKIP LOCKED))`,
    replace: `WHERE r.instance = o.id AND r.id = ANY (ARRAY(
    SELECT h.id FROM jobmill.running AS h WHERE h.instance = ANY (ARRAY(SELECT id FROM over)) FOR UPDATE SKIP LOCKED))
     OR r.id = ANY (ARRAY(SELECT a.job_id FROM jobmill.attempt AS a WHERE a.instance = o.id AND a.taken_back))`,
    test: { file: CONTRACT, name: 'a job that another instance holds by now' },
  },
  {
    name: 'postgres: claim does not skip jobs that another claim has locked',
    file: 'store-postgres/schema/functions/claim.ts',
    find: 'ORDER BY r.queue_id, r.priority, r.seq LIMIT 500 FOR UPDATE SKIP LOCKED',
    replace: 'ORDER BY r.queue_id, r.priority, r.seq LIMIT 500',
    test: {
      file: `${TESTS}/postgres/open-transactions.test.ts`,
      name: 'does not block a claim of the others',
    },
  },
  {
    name: 'postgres: a claim from a queue with a concurrency limit writes no permit',
    file: 'store-postgres/schema/functions/claim.ts',
    find: 'IF with_permits THEN',
    replace: 'IF false THEN',
    test: { file: CONTRACT, name: 'holds one permit until its attempt ends' },
  },
  {
    name: 'postgres: a claim of a quarantined job takes any job',
    file: 'store-postgres/schema/functions/claim.ts',
    find: 'WHERE r.queue_id = w.queue_id AND r.crashes >= 2 AND',
    replace: 'WHERE r.queue_id = w.queue_id AND',
    test: { file: CONTRACT, name: 'is skipped by skip, and taken alone by only' },
  },
  {
    name: 'postgres: a claim spends no budget of the limit of its queue',
    file: 'store-postgres/claim/claim-limited.ts',
    find: "if (settings.type === 'rate') changed.add(name)",
    replace: '',
    test: { file: CONTRACT, name: 'takes what the budget has, spends it' },
  },
  {
    name: 'postgres: direct dispatch ignores ready jobs',
    file: 'store-postgres/schema/functions/enqueue.ts',
    find: 'IF is_alike AND with_priority < first_priorities[1] THEN',
    replace: 'IF is_alike AND first_priorities[1] IS NOT NULL THEN',
    test: { file: CONTRACT, name: 'ready jobs of any kind block direct dispatch' },
  },
  {
    name: 'postgres: a job from remote dispatch starts although its lease was released before it arrived',
    file: 'dispatch/next.ts',
    find: 'unknownLeasesFound: ({ workerOffers }) => workerOffers.clear(),',
    replace: 'unknownLeasesFound: () => {},',
    test: { file: `${TESTS}/runtime/remote-dispatch.test.ts`, name: 'does not start a second time' },
  },
  {
    name: 'postgres: a job that remote dispatch lost is never found',
    file: 'dispatch/plan.ts',
    find: 'return now - lastWorkerOfferAt < WORKER_OFFER_MS',
    replace: 'return now - lastWorkerOfferAt < 0',
    test: { file: `${TESTS}/runtime/remote-dispatch.test.ts`, name: 'that does not arrive is found' },
  },
  {
    name: 'postgres: direct dispatch of different jobs ignores ready jobs',
    file: 'store-postgres/schema/functions/enqueue.ts',
    find: 'ON f.queue_id = j.queue_id AND j.priority < f.priority AND',
    replace: 'ON f.queue_id = j.queue_id AND',
    test: { file: CONTRACT, name: 'no job overtakes one that was ready before' },
  },
  {
    name: 'postgres: a tick is not one transaction',
    file: 'store-postgres/schedules/tick.ts',
    find: 'inTransaction(context, (inside) => tickOnce(inside, items))',
    replace: 'tickOnce(context, items)',
    test: { file: `${TESTS}/postgres/cluster.test.ts`, name: 'leaves neither the job nor the tick' },
  },
  {
    name: 'postgres: retention deletes a dedupe key together with its job',
    file: 'store-postgres/retain/retain-jobs.ts',
    find: '), ${REMOVED}\nSELECT',
    replace: `), keys_removed AS (
  DELETE FROM jobmill.dedupe AS d WHERE d.job_id = ANY (ARRAY(SELECT id FROM doomed))
), \${REMOVED}\nSELECT`,
    test: { file: CONTRACT, name: 'a hold outlives the deletion and the retention of its job' },
  },
  {
    name: 'postgres: a notification does not reach other processes',
    file: 'store-postgres/notifier/notifier.ts',
    find: "const NOTIFY = 'SELECT pg_notify($1, $2)'",
    replace: "const NOTIFY = `SELECT pg_notify('lost', $2) WHERE $1 <> ''`",
    test: { file: `${TESTS}/postgres/notifier.test.ts`, name: 'receives the first notification' },
  },
  {
    name: 'sqlite: an enqueue is acknowledged before the commit is on disk',
    file: 'store-sqlite/connection/connection.ts',
    find: "durability === 'full' ? 'FULL' : 'NORMAL'",
    replace: "durability === 'full' ? 'NORMAL' : 'NORMAL'",
    test: { file: `${TESTS}/sqlite/open.test.ts`, name: 'durability full is synchronous' },
  },
  {
    name: 'postgres: a database with an unsupported encoding is opened',
    file: 'store-postgres/open-store.ts',
    find: 'if (unfit === null) return',
    replace: 'if (unfit !== undefined) return',
    test: {
      file: `${TESTS}/admin/diagnose-postgres.test.ts`,
      name: 'a database that cannot hold every text',
    },
  },
  {
    name: 'postgres: a tx function that renames columns is accepted',
    file: 'store-postgres/tx.ts',
    find: 'if (renamed === undefined) return rows',
    replace: 'if (renamed !== null) return rows',
    test: { file: `${TESTS}/postgres/transactions.test.ts`, name: 'turns the names of columns into' },
  },
  {
    name: 'one refused progress write blocks all others',
    file: 'work/notes.ts',
    find: 'if (!isDataError(error)) return due.forEach(keep)',
    replace: 'if (Boolean(error)) return due.forEach(keep)',
    test: { file: `${TESTS}/work/notes.test.ts`, name: 'block no other' },
  },
  {
    name: "postgres: a commit of the user's transaction sends no notification",
    file: 'store-postgres/enqueue/ready-counts.ts',
    find: 'if (xid !== null) commits.add',
    replace: 'if (xid === undefined) commits.add',
    test: { file: `${TESTS}/postgres/notifier.test.ts`, name: 'N8 enqueue in a user transaction' },
  },
  {
    name: "postgres: a rollback of the user's transaction sends a notification",
    file: 'store-postgres/notifier/commit-watch.ts',
    find: 'if (hasCommitted && one !== undefined',
    replace: 'if (one !== undefined',
    test: { file: `${TESTS}/postgres/notifier.test.ts`, name: 'N8 enqueue in a user transaction' },
  },
  {
    name: 'postgres: the password function is not called',
    file: 'store-postgres/connection/server-address.ts',
    find: '...(password !== undefined && { password })',
    replace: '...(password === null && { password })',
    test: { file: `${TESTS}/postgres/comes-back.test.ts`, name: 'N7 with url' },
  },
  {
    name: 'an onDead job runs in the queue of the dead job',
    file: 'job/attempt/on-dead.ts',
    find: 'queue: orderKey === null ? ON_DEAD_QUEUE : queue',
    replace: "queue: orderKey === '' ? ON_DEAD_QUEUE : queue",
    test: { file: `${TESTS}/runtime/on-dead.test.ts`, name: 'N16 it does not wait' },
  },
  {
    name: 'postgres: jobs that never failed are listed as retrying',
    file: 'store-postgres/inspect/list.ts',
    find: '[`a.outcome IN (${FAILED_OUTCOMES})`]',
    replace: '[`a.outcome IN (${FAILED_OUTCOMES}) IS NOT NULL`]',
    test: { file: CONTRACT, name: 'retrying: jobs whose last attempt failed' },
  },
  {
    name: 'a command has no default timeout',
    file: 'work/handlers/child-options.ts',
    find: 'timeout = DEFAULTS.childTimeoutMs,',
    replace: "timeout = DEFAULTS.childTimeoutMs > 0 ? 'none' : '1m',",
    test: { file: `${TESTS}/work/handlers/command.test.ts`, name: 'A the policy comes from the job' },
  },
  {
    name: 'the payload of a command cannot override the default timeout',
    file: 'work/run-attempt.ts',
    find: 'hasOwnTimeout?.(JSON.parse(lease.payload)) === true',
    replace: "hasOwnTimeout?.(JSON.parse(lease.payload)) === 'never'",
    test: { file: `${TESTS}/work/handlers/command-stop.test.ts`, name: 'wins over the default' },
  },
]
