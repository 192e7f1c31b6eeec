/** Faults in leases, crashes and permits: who may write about a job. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const TESTS = 'packages/jobmill/test'
const CONTRACT = `${TESTS}/conformance/postgres.test.ts`

export const LEASES: readonly TestedMutant[] = [
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
]
