/** Faults in the claims, batches and leases of PostgreSQL. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const FILE = 'packages/jobmill/test/postgres/batches.test.ts'
const ENDS = 'packages/jobmill/test/postgres/batch-ends.test.ts'
const LOCKS = 'packages/jobmill/test/postgres/batch-locks.test.ts'
const CURSORS = 'packages/jobmill/test/postgres/cursors.test.ts'
const DISPATCH = 'packages/jobmill/test/postgres/direct-dispatch.test.ts'
const OPEN_CLAIMS = 'packages/jobmill/test/postgres/open-claims.test.ts'
const CLAIM = 'store-postgres/schema/functions/claim.ts'
const UNPACK = 'store-postgres/schema/functions/unpack.ts'
const ENQUEUE = 'store-postgres/schema/functions/enqueue.ts'
const FINISH = 'store-postgres/schema/functions/finish.ts'

export const BATCHES: readonly TestedMutant[] = [
  {
    name: 'postgres: a finish ends a job that has left its batch',
    file: FINISH,
    find: 'AND NOT i.id = ANY (gone_ids) ${where}\n            RETURNING job_id',
    replace: '${where}\n            RETURNING job_id',
    test: { file: FILE, name: 'is not ended by a finish under its old token' },
  },
  {
    name: 'postgres: a finish under the token of a batch ends any job',
    file: FINISH,
    find: "'AND i.id = ANY (members)'",
    replace: "''",
    test: { file: FILE, name: 'one under the token of another claim is refused' },
  },
  {
    name: 'postgres: a forgotten job stays in its batch',
    file: FINISH,
    find: 'UPDATE jobmill.batch AS h SET gone = h.gone || matched WHERE',
    replace: 'UPDATE jobmill.batch AS h SET gone = h.gone WHERE',
    test: { file: FILE, name: 'was forgotten and enqueued again' },
  },
  {
    name: 'postgres: a failed job of a batch stays in it',
    file: 'store-postgres/schema/functions/finish-each.ts',
    find: 'IF packed IS NOT NULL THEN',
    replace: 'IF packed IS NULL THEN',
    test: { file: FILE, name: 'a failed job is retried' },
  },
  {
    name: 'postgres: unpacking a batch runs jobs again that have ended',
    file: UNPACK,
    find: 'AND NOT EXISTS (SELECT FROM jobmill.attempt AS a WHERE a.job_id = m.id AND a.token = b.token)',
    replace: '',
    test: { file: FILE, name: 'except those that have ended' },
  },
  {
    name: 'postgres: a reap leaves the jobs of a batch',
    file: 'store-postgres/instances/reap.ts',
    find: 'if (over.length > 0) await unpack',
    replace: 'if (over.length < 0) await unpack',
    test: { file: FILE, name: 'except those that have ended' },
  },
  {
    name: 'postgres: a batch is deleted while some of its jobs run',
    file: 'store-postgres/schema/functions/pieces.ts',
    find: 'SELECT cardinality(o.open) = (',
    replace: 'SELECT cardinality(o.open) >= (',
    test: { file: FILE, name: 'stays until its last job has left' },
  },
  {
    name: 'postgres: a finish of a batch does not check the lease token',
    file: FINISH,
    find: 'WHERE i.token = b.token AND NOT i.id = ANY (gone_ids) ${where}\n            RETURNING job_id',
    replace: 'WHERE NOT i.id = ANY (gone_ids) ${where}\n            RETURNING job_id',
    test: { file: FILE, name: 'to be done, ends each only under its own token' },
  },
  {
    name: 'postgres: a finish of a batch that forgets its jobs does not check the lease token',
    file: FINISH,
    find: 'WHERE i.token = b.token AND NOT i.id = ANY (gone_ids) ${where}\n             AND',
    replace: 'WHERE NOT i.id = ANY (gone_ids) ${where}\n             AND',
    test: { file: FILE, name: 'to be forgotten, ends each only under its own token' },
  },
  {
    name: 'postgres: a reap leaves the row of a batch',
    file: UNPACK,
    find: 'DELETE FROM jobmill.batch AS h WHERE h.token = b.token AND h.queue_id = b.queue_id;',
    replace: 'NULL;',
    test: { file: FILE, name: 'the jobs of a lost instance return to their queue' },
  },
  {
    name: 'postgres: a stop leaves the jobs of a batch',
    file: 'store-postgres/instances/instances.ts',
    find: '    await unpack(inside, inside.connection.query, { instances: [instance] })\n',
    replace: '',
    test: { file: FILE, name: 'the jobs of an instance that stops return to their queue' },
  },
  {
    name: 'postgres: a job that was returned stays in its batch',
    file: UNPACK,
    find: 'SET gone = h.gone || moved',
    replace: 'SET gone = h.gone',
    test: { file: FILE, name: 'is not ended by a finish under its old token' },
  },
  {
    name: 'postgres: a job that is newer than its claim is not in its batch',
    file: UNPACK,
    find: 'WHERE (members IS NULL OR m.id = ANY (members))',
    replace: 'WHERE j.enqueued_at <= b.started_at AND (members IS NULL OR m.id = ANY (members))',
    test: { file: FILE, name: 'newer than their claim' },
  },
  {
    name: 'postgres: a deleted job stays in its batch',
    file: 'store-postgres/operate/delete.ts',
    find: 'SET gone = b.gone || d.ids',
    replace: 'SET gone = b.gone',
    test: { file: FILE, name: 'used again while its batch exists' },
  },
  {
    name: 'postgres: retention leaves a job in its batch',
    file: 'store-postgres/retain/retain.ts',
    find: 'a.ended_as AS state, a.token FROM',
    replace: 'a.ended_as AS state, NULL::int8 AS token FROM',
    test: { file: ENDS, name: 'retention keeps a job that uses the id' },
  },
  {
    name: 'postgres: the results have deleted jobs of a batch',
    file: 'store-postgres/inspect/job-rows.ts',
    find: "WHEN ${isIn('job')} THEN",
    replace: 'WHEN EXISTS (SELECT FROM jobmill.batch AS b WHERE w.id = ANY (b.ids)) THEN',
    test: { file: ENDS, name: 'a job that retention deleted has no state' },
  },
  {
    name: 'postgres: a finish that is sent again does not wait for a delete',
    file: FINISH,
    find: 'ORDER BY h.token, h.queue_id FOR SHARE;',
    replace: 'ORDER BY h.token, h.queue_id FOR KEY SHARE;',
    test: { file: ENDS, name: 'sent again while its job is deleted' },
  },
  {
    name: 'postgres: two finishes that forget count a job twice',
    file: FINISH,
    find: 'ORDER BY h.token, h.queue_id FOR NO KEY UPDATE;',
    replace: 'ORDER BY h.token, h.queue_id FOR KEY SHARE;',
    test: { file: ENDS, name: 'counted once, although it is sent twice' },
  },
  {
    name: 'postgres: a finish that forgets deletes a job that was kept',
    file: FINISH,
    find: '\n             AND NOT i.id = ANY (ARRAY(SELECT a.job_id FROM jobmill.attempt AS a WHERE a.job_id = ANY (ids) AND a.token = b.token))',
    replace: '',
    test: { file: ENDS, name: 'even if a finish under its token forgets' },
  },
  {
    name: 'postgres: a finish with follow-ups locks the batch of its job',
    file: 'store-postgres/finish/finish.ts',
    find: '  await unpackKnown(context, query, items)\n  const replies = await write(context, callOf(items, false))',
    replace: '  const replies = await write(context, callOf(items, true))',
    test: { file: LOCKS, name: 'while the finish of another one waits' },
  },
  {
    name: 'postgres: a finish locks a batch that its job has left',
    file: FINISH,
    find: 'IF ended IS NULL THEN RAISE unique_violation; END IF;',
    replace: '',
    test: { file: LOCKS, name: 'completes has returned before the commit' },
  },
  {
    name: 'postgres: failed jobs lock their batch before they wait for a transaction',
    file: 'store-postgres/schema/functions/finish-each.ts',
    find: '      PERFORM FROM jobmill.running AS r WHERE r.id = ANY (ARRAY(SELECT x.id FROM json_to_recordset(items) AS x(id uuid))) FOR UPDATE;\n',
    replace: '',
    test: { file: LOCKS, name: 'wait for a transaction before they lock it' },
  },
  {
    name: 'postgres: a reap waits for a locked batch',
    file: UNPACK,
    find: 'FOR UPDATE SKIP LOCKED;',
    replace: 'FOR UPDATE;',
    test: { file: LOCKS, name: 'leaves the jobs of a locked batch' },
  },
  {
    name: 'postgres: no claim looks below the shared scan cursor',
    file: CLAIM,
    find: 'ORDER BY r.queue_id, r.priority, r.seq LIMIT 500 FOR UPDATE SKIP LOCKED',
    replace: `AND NOT coalesce((\${LANE('r.queue_id', 'r.priority', 'kind_ids')}) = (last_claim & 1048575) AND r.seq <= (last_claim >> 20), false)
           ORDER BY r.queue_id, r.priority, r.seq LIMIT 500 FOR UPDATE SKIP LOCKED`,
    test: { file: CURSORS, name: 'in a transaction that failed is found by the next full scan' },
  },
  {
    name: 'postgres: a job that was returned is lost below the scan cursors',
    file: 'store-postgres/claim/scan-cursors.ts',
    find: 'notBefore: wasFull ? now + pause : (known?.notBefore ?? now),',
    replace: 'notBefore: Number.POSITIVE_INFINITY,',
    test: { file: FILE, name: 'returned jobs of a batch are found' },
  },
  {
    name: 'postgres: a job that was leased at its enqueue is claimed again',
    file: ENQUEUE,
    find: 'IF leased = 0 AND jobs = 1 THEN\n',
    replace: 'IF jobs = 1 THEN\n',
    test: { file: DISPATCH, name: 'one job that are leased at their enqueue' },
  },
  {
    name: 'postgres: a batch that was leased at its enqueue is claimed again',
    file: ENQUEUE,
    find: 'IF leased < jobs THEN\n      INSERT INTO jobmill.ready (${READY_COLUMNS})\n      SELECT coalesce(j.queue_id, in_queue), coalesce(j.priority, with_priority), j.seq,',
    replace:
      'starts := NULL; IF true THEN\n      INSERT INTO jobmill.ready (${READY_COLUMNS})\n      SELECT coalesce(j.queue_id, in_queue), coalesce(j.priority, with_priority), j.seq,',
    test: { file: DISPATCH, name: 'jobs in a batch that are leased at their enqueue' },
  },
  {
    name: 'postgres: mixed jobs that were leased at their enqueue are claimed again',
    file: ENQUEUE,
    find: '\n       WHERE j.starts IS NOT TRUE;',
    replace: ';',
    test: { file: DISPATCH, name: 'jobs of several priorities that are leased at their enqueue' },
  },
  {
    name: 'postgres: a cancel does not reach the jobs of a batch',
    file: 'store-postgres/operate/cancel.ts',
    find: 'if (rest.length > 0) await unpack',
    replace: 'if (rest.length < 0) await unpack',
    test: { file: OPEN_CLAIMS, name: 'a cancel waits for it' },
  },
  {
    name: 'postgres: an operator does not wait for a claim of the same job',
    file: 'store-postgres/fragments.ts',
    find: 'DELETE FROM jobmill.ready AS w USING input WHERE w.id = input.id RETURNING w.*',
    replace: `DELETE FROM jobmill.ready AS w WHERE w.ctid = ANY (ARRAY(
    SELECT r.ctid FROM jobmill.ready AS r JOIN input ON input.id = r.id FOR UPDATE OF r SKIP LOCKED)) RETURNING w.*`,
    test: { file: OPEN_CLAIMS, name: 'a delete waits for it' },
  },
  {
    name: 'postgres: an enqueue that replaces a job changes the payload of a lease',
    file: 'store-postgres/enqueue/replace.ts',
    find: 'FROM moved AS m LEFT JOIN retagged AS r ON r.id = m.id WHERE j.id = m.id\n  RETURNING',
    replace: 'FROM input AS m LEFT JOIN retagged AS r ON r.id = m.id WHERE j.id = m.id\n  RETURNING',
    test: { file: OPEN_CLAIMS, name: 'changes no payload of a lease' },
  },
  {
    name: 'postgres: a claim that commits after its instance was lost is not returned',
    file: 'store-postgres/instances/reap.ts',
    find: 'const over = await query(context.sql(OVER), [])',
    replace: 'const over = marked.length === 0 ? [] : await query(context.sql(OVER), [])',
    test: { file: OPEN_CLAIMS, name: 'the reaper that finds its instance lost' },
  },
]
