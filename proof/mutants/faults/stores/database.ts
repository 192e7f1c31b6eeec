/** Faults in connections, transactions, notifications and retention. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const TESTS = 'packages/jobmill/test'
const CONTRACT = `${TESTS}/conformance/postgres.test.ts`

export const DATABASE: readonly TestedMutant[] = [
  {
    name: 'postgres: a tick is not one transaction',
    file: 'store-postgres/schedules/tick.ts',
    find: 'inTransaction(context, (inside) => tickOnce(inside, items))',
    replace: 'tickOnce(context, items)',
    test: { file: `${TESTS}/postgres/cluster.test.ts`, name: 'leaves neither the job nor the tick' },
  },
  {
    name: 'postgres: retention deletes a dedupe key together with its job',
    file: 'store-postgres/retain/retain.ts',
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
    name: 'postgres: jobs that never failed are listed as retrying',
    file: 'store-postgres/inspect/list.ts',
    find: '[`a.outcome IN (${FAILED_OUTCOMES})`]',
    replace: '[`a.outcome IN (${FAILED_OUTCOMES}) IS NOT NULL`]',
    test: { file: CONTRACT, name: 'retrying: jobs whose last attempt failed' },
  },
]
