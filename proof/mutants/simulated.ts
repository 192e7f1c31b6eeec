/** Faults in the runtime and the SQLite store that the simulator must find. */
import type { Mutant } from './mutant.ts'

export const SIMULATED: readonly Mutant[] = [
  {
    name: 'finish does not check the lease token',
    file: 'store-sqlite/finish/finish.ts',
    find: 'job.state === RUNNING && job.token === item.token',
    replace: 'job.state === RUNNING',
  },
  {
    name: 'the reaper does not wait until the lease expires',
    file: 'store-sqlite/instances/reap.ts',
    find: 'WHERE state = 0 AND expires_at <= ? ORDER',
    replace: 'WHERE state = 0 AND expires_at <= ? + 9000 ORDER',
  },
  {
    name: 'the reaper never runs',
    file: 'store-sqlite/instances/reap.ts',
    find: 'WHERE state = 0 AND expires_at <= ? ORDER',
    replace: 'WHERE state = 0 AND expires_at <= ? - 1000000 ORDER',
  },
  {
    name: 'a job ignores the order lock of its order key',
    file: 'store-sqlite/enqueue/order-queue.ts',
    find: 'return lock?.job_pk === job.pk',
    replace: 'return true',
  },
  {
    name: 'a job becomes ready before it is due',
    file: 'store-sqlite/claim/stage.ts',
    find: 'AND in_order_queue = 0 AND due_at <= ? ORDER',
    replace: 'AND in_order_queue = 0 AND due_at <= ? + 1500 ORDER',
  },
  {
    name: 'claim takes jobs from a paused queue',
    file: 'store-sqlite/claim/open-queues.ts',
    find: 'WHERE name = ? AND paused = 0 AND cool_until <= ?',
    replace: 'WHERE name = ? AND cool_until <= ?',
  },
  {
    name: 'claim leases jobs to a quiet instance',
    file: 'store-sqlite/instances/liveness.ts',
    find: '`${ALIVE} AND requested IS NULL`',
    replace: 'ALIVE',
  },
  {
    name: 'a schedule stops after its first tick',
    file: 'store-sqlite/schedules/tick.ts',
    find: 'nextAt: one.nextAt,',
    replace: 'nextAt: one.fires.length === 0 ? one.nextAt : null,',
  },
  {
    name: 'a tick does not check whether it was already served',
    file: 'store/stored-schedule.ts',
    find: 'schedule.nextAt === from',
    replace: 'schedule.nextAt !== 0',
  },
  {
    name: 'a tick is recorded without its job',
    file: 'store-sqlite/schedules/tick.ts',
    find: 'return enqueue(work, [job]).map(({ id, outcome }) => {',
    replace: "return [{ id: job.id, outcome: 'enqueued' }].map(({ id, outcome }) => {",
  },
  {
    name: 'direct dispatch ignores ready jobs',
    file: 'store-sqlite/enqueue/direct-dispatch.ts',
    find: 'return isOpen ? bestReadyPriority(work.sql, id)',
    replace: 'return isOpen ? Number.POSITIVE_INFINITY + id',
  },
  {
    name: 'the leases of a lost claim reply are never released',
    file: 'dispatch/compare.ts',
    find: 'if (lost.length > 0) {',
    replace: 'if (lost.length > 1_000_000) {',
  },
  {
    name: 'an outcome is dropped when its first write fails',
    file: 'work/outcome/finisher.ts',
    find: 'await pause.wait(given.signal)',
    replace: 'if (Boolean(error)) return (settle(batch, []), false)',
  },
  {
    name: 'an enqueue is acknowledged although its outcome is unknown',
    file: 'enqueue/batcher.ts',
    find: "if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') unknown = error",
    replace:
      "if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') return jobs().map(({ id }) => ({ id, outcome: 'enqueued' }))",
  },
  {
    name: 'a dedupe key is not held after its job ends',
    file: 'store-sqlite/enqueue/dedupe.ts',
    find: '(endedAs === DONE ||',
    replace: '(endedAs !== DONE ||',
  },
  {
    name: 'enqueue ignores a dedupe key that is in use',
    file: 'store-sqlite/enqueue/dedupe.ts',
    find: 'WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)',
    replace: 'WHERE key = ? AND (expires_at < 0 OR expires_at > ?)',
  },
  {
    name: 'permits are not released when their job ends',
    file: 'store-sqlite/limits/permits.ts',
    find: 'DELETE FROM jobmill_permit WHERE holder = ? RETURNING',
    replace: 'DELETE FROM jobmill_permit WHERE holder = ? AND amount > 1 RETURNING',
  },
  {
    name: 'claim takes the newest job first',
    file: 'store-sqlite/claim/ready-lanes.ts',
    find: 'ORDER BY priority, seq LIMIT ?`',
    replace: 'ORDER BY priority, seq DESC LIMIT ?`',
  },
  {
    name: 'an enqueue is acknowledged before the commit',
    file: 'enqueue/batcher.ts',
    find: 'const replies = await sendUntilKnown(',
    replace: `for (const { jobs, resolve } of batch) resolve(jobs.map(({ id }) => ({ id, outcome: 'enqueued' })))
      const replies = await sendUntilKnown(`,
  },
  {
    name: 'retention deletes a dedupe key together with its job',
    file: 'store-sqlite/retain/retain.ts',
    find: 'for (const job of old) removeJob(work, job)',
    replace: `for (const job of old) removeJob(work, job)
  for (const { id } of old) sql('DELETE FROM jobmill_dedupe WHERE job_id = ?').run(id)`,
  },
  {
    name: 'a process keeps running jobs after its lease expired',
    file: 'work/heartbeat/heartbeat.ts',
    find: 'if (!alive || stopped) return\n    alive = false',
    replace: 'if (alive || stopped) return\n    alive = false',
  },
  {
    name: 'a process starts jobs from a claim reply that arrives after its lease expired',
    file: 'dispatch/plan.ts',
    find: 'if (state.isStopping || state.isQuiet || term !== state.term || now >= state.aliveUntil)',
    replace: 'if (state.isStopping || state.isQuiet || term === undefined)',
  },
  {
    name: 'the reaper does not wait for other instances to reconnect after an outage',
    file: 'work/heartbeat/contact.ts',
    find: 'since !== null && now - since >= leaseMs && ',
    replace: 'since !== null && ',
  },
  {
    name: 'a crash is not reverted when its process reconnects',
    file: 'store-sqlite/instances/lost-jobs.ts',
    find: 'SET crashes = max(crashes - 1, 0) WHERE',
    replace: 'SET crashes = max(crashes, 0) WHERE',
  },
  {
    name: 'a retried start reuses the instance that failed',
    file: 'runtime/jobmill.ts',
    find: 'if (starts > 0) instance = newInstance()',
    replace: 'if (starts < 0) instance = newInstance()',
  },
  {
    name: 'a stale attempt records a step',
    file: 'store-sqlite/steps/steps.ts',
    find: 'return job?.state === RUNNING && job.token === token ? job : undefined',
    replace: 'return job?.state === RUNNING && token > 0 ? job : undefined',
  },
  {
    name: 'the next attempt does not read the recorded steps',
    file: 'work/run-attempt.ts',
    find: 'if (attempt.lease.hasSteps === true)',
    replace: 'if (attempt.lease.token < 0)',
  },
  {
    name: 'an attempt that was asked to stop while its steps are read starts its handler',
    file: 'work/run-attempt.ts',
    find: 'attempt.memos = await orAborted(tools.memosOf(attempt), attempt.signal)',
    replace: 'attempt.memos = await tools.memosOf(attempt)',
  },
  {
    name: 'a step returns before its result is recorded',
    file: 'work/steps/attempt-steps.ts',
    find: 'accept(await tools.record(item, attempt))',
    replace: 'void tools.record(item, attempt).then(accept).catch(() => {})',
  },
  {
    name: 'a park forgets the wait of a concurrent step',
    file: 'store-sqlite/steps/steps.ts',
    find: 'Math.min(...waits.map(',
    replace: 'Math.max(...waits.map(',
  },
  {
    name: 'a park forgets a wait that ended just before it',
    file: 'store-sqlite/steps/steps.ts',
    find: '({ due_at: dueAt }) => dueAt ?? NEVER_DUE',
    replace: '({ due_at: dueAt }) => (dueAt === null || dueAt <= now ? NEVER_DUE : dueAt)',
  },
  {
    name: 'a park does not look for events that have arrived',
    file: 'store-sqlite/steps/steps.ts',
    find: 'if (waits.length === 0 || hasArrived(sql, job)) return now',
    replace: 'if (waits.length === 0) return now',
  },
  {
    name: 'an event does not make its parked job ready',
    file: 'store-sqlite/steps/send.ts',
    find: 'const isWoken = wakeIfArrived(work, job.id)',
    replace: 'const isWoken = job.pk < 0 && wakeIfArrived(work, job.id)',
  },
  {
    name: 'an event ends two waits',
    file: 'store-sqlite/steps/steps.ts',
    find: 'WHERE job_pk = ? AND step IS NULL AND name IN',
    replace: 'WHERE job_pk = ? AND name IN',
  },
  {
    name: 'an event that is sent twice is stored twice',
    file: 'store-sqlite/steps/send.ts',
    find: 'if (sql(KNOWN).get(job.pk, eventId) !== undefined) return { state, isStored: true }',
    replace: 'if (sql(KNOWN).get(job.pk, eventId) !== undefined) eventId = crypto.randomUUID()',
  },
  {
    name: 'a timeout ends a wait although its event has arrived',
    file: 'store-sqlite/steps/steps.ts',
    find: 'const event = takeEvent(sql, job.pk, item)',
    replace: 'const event = dueAt !== null && dueAt <= now ? undefined : takeEvent(sql, job.pk, item)',
  },
]
