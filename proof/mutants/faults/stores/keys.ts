/** Faults in dedupe keys that are held for a time or until the start, and in debounced jobs. */
import type { TestedMutant } from '../../mutant.ts'

const TESTS = 'packages/jobmill/test'
const CONTRACT = `${TESTS}/conformance/postgres.test.ts`
const FILE_CONTRACT = `${TESTS}/conformance/sqlite.test.ts`

export const KEYS: readonly TestedMutant[] = [
  {
    name: 'postgres: a dedupe key with a window has no expiry',
    file: 'store-postgres/schema/functions/enqueue.ts',
    find: "WHEN 'enqueued' THEN at + i.hold_ms",
    replace: "WHEN 'enqueued' THEN NULL",
    test: { file: CONTRACT, name: 'is held for this time after the enqueue, and is free then' },
  },
  {
    name: 'sqlite: the end of a job frees its dedupe key before the window is over',
    file: 'store-sqlite/enqueue/dedupe.ts',
    find: '|| isHeldForTime(after)) return',
    replace: ') return',
    test: { file: FILE_CONTRACT, name: 'the window counts from the enqueue' },
  },
  {
    name: 'sqlite: a retried job takes its dedupe key although its window is over',
    file: 'store-sqlite/operate/actions.ts',
    find: 'job.dedupe_key !== null && isHeldUntilEnd(job.hold_after)',
    replace: 'job.dedupe_key !== null',
    test: { file: FILE_CONTRACT, name: 'a retried job with a window does not take its key again' },
  },
  {
    name: 'postgres: a job with a dedupe key and a window is dispatched directly',
    file: 'store-postgres/schema/functions/enqueue.ts',
    find: ' AND i.dedupe_key IS NULL\n         ORDER BY',
    replace: '\n         ORDER BY',
    test: { file: CONTRACT, name: 'a job with a window is not dispatched directly' },
  },
  {
    name: 'postgres: deleting a waiting job does not free its dedupe key with a window',
    file: 'store-postgres/operate/delete.ts',
    find: 'AND d.job_id = ANY (ARRAY(SELECT id FROM taken WHERE flags & ${KEYED} = 0))',
    replace: 'AND false',
    test: { file: CONTRACT, name: 'deleting a waiting job does' },
  },
  {
    name: 'postgres: a claim does not free the dedupe keys that are held until the start',
    file: 'store-postgres/schema/functions/claim.ts',
    find: 'IF keyed IS NOT NULL THEN',
    replace: 'IF false THEN',
    test: { file: CONTRACT, name: 'is held while its job is scheduled or ready, and is free while it runs' },
  },
  {
    name: 'sqlite: a claim does not free the dedupe keys that are held until the start',
    file: 'store-sqlite/claim/claim.ts',
    find: 'if ((row.flags & FREES_KEY) !== 0)',
    replace: 'if (row.flags < 0)',
    test: { file: FILE_CONTRACT, name: 'one claim frees the keys of all of its jobs' },
  },
  {
    name: 'postgres: the end of a job frees the dedupe key that another job holds by then',
    file: 'store-postgres/fragments.ts',
    find: 'AND d.job_id = ANY (ARRAY(SELECT id FROM keyed WHERE NOT held_on))',
    replace: '',
    test: { file: CONTRACT, name: 'neither takes its key again nor frees it' },
  },
  {
    name: 'sqlite: the end of a job frees the dedupe key that another job holds by then',
    file: 'store-sqlite/enqueue/dedupe.ts',
    find: 'DELETE FROM jobmill_dedupe WHERE key = ? AND job_id = ?',
    replace: "DELETE FROM jobmill_dedupe WHERE key = ? AND job_id <> coalesce(?, '') || '-'",
    test: { file: FILE_CONTRACT, name: 'keep the hold of the one that has a hold time' },
  },
  {
    name: 'postgres: an enqueue of a debounced job does not start the wait again',
    file: 'store-postgres/enqueue/debounce.ts',
    find: 'SET due_at = c.due FROM',
    replace: 'SET due_at = w.due_at FROM',
    test: { file: CONTRACT, name: 'each enqueue until then replaces its payload and starts the wait again' },
  },
  {
    name: 'postgres: the dedupe key of a debounced job is free before the job is due',
    file: 'store-postgres/enqueue/debounce.ts',
    find: 'SET expires_at = c.due FROM',
    replace: 'SET expires_at = d.expires_at FROM',
    test: { file: CONTRACT, name: 'each enqueue until then replaces its payload and starts the wait again' },
  },
  {
    name: 'a debounced job waits longer than maxWait',
    file: 'job/enqueue/new-job.ts',
    find: 'holdMs > 0 ? firstEnqueuedAt + holdMs : Number.POSITIVE_INFINITY',
    replace: 'holdMs > 0 ? now + holdMs : Number.POSITIVE_INFINITY',
    test: { file: FILE_CONTRACT, name: 'never due later than maxWait after its first enqueue' },
  },
  {
    name: 'postgres: a debounced job waits longer than maxWait',
    file: 'store-postgres/enqueue/debounce.ts',
    find: 'THEN j.enqueued_at + i.max_ms END',
    replace: 'THEN ${NOW} + i.max_ms END',
    test: { file: CONTRACT, name: 'never due later than maxWait after its first enqueue' },
  },
  {
    name: 'sqlite: an enqueue changes a debounced job that has started before',
    file: 'store-sqlite/enqueue/debounce.ts',
    find: ' && holder.records === 0',
    replace: '',
    test: { file: FILE_CONTRACT, name: 'the debounced job no longer waits for its first start' },
  },
  {
    name: 'postgres: an enqueue changes a debounced job that has started before',
    file: 'store-postgres/enqueue/debounce.ts',
    find: ' AND w.tries = 0',
    replace: '',
    test: { file: CONTRACT, name: 'the debounced job no longer waits for its first start' },
  },
  {
    name: 'postgres: an enqueue is a duplicate of a debounced job that runs',
    file: 'store-postgres/enqueue/keyed.ts',
    find: 'if (begun.length === 0) return open',
    replace: 'if (open.length === 0) return open',
    test: { file: CONTRACT, name: 'the debounced job no longer waits for its first start' },
  },
  {
    name: 'sqlite: debounced jobs keep the tags of the first enqueue',
    file: 'store-sqlite/enqueue/debounce.ts',
    find: 'replaceTags(sql, holder, job.tags)',
    replace: 'replaceTags(sql, holder, [])',
    test: {
      file: FILE_CONTRACT,
      name: 'each enqueue until then replaces its payload and starts the wait again',
    },
  },
  {
    name: 'postgres: debounced jobs keep the tags of the first enqueue',
    file: 'store-postgres/enqueue/debounce.ts',
    find: "retagged('changing', true)",
    replace: "retagged('changing')",
    test: {
      file: CONTRACT,
      name: 'an enqueue without tags and metadata removes those of the job that waits',
    },
  },
  {
    name: 'debounced jobs of different kinds share a key',
    file: 'job/enqueue/new-job.ts',
    find: 'return `${DEBOUNCE}${kind} ${key}`',
    replace: "return `${DEBOUNCE}${kind === '' ? kind : 'x'} ${key}`",
    test: { file: FILE_CONTRACT, name: 'each kind debounces on its own' },
  },
]
