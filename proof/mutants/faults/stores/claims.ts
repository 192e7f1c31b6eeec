/** Faults in claims, their scan cursors, and direct and remote dispatch. One test must find each. */
import type { TestedMutant } from '../../mutant.ts'

const TESTS = 'packages/jobmill/test'
const CONTRACT = `${TESTS}/conformance/postgres.test.ts`

export const CLAIMS: readonly TestedMutant[] = [
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
]
