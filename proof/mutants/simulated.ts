/** Faults in the runtime and the SQLite store that the simulator must find. */
import type { Mutant } from './mutant.ts'

export const SIMULATED: readonly Mutant[] = [
  {
    name: 'a finish without its fence',
    file: 'store-sqlite/finish.ts',
    find: 'job.state === RUNNING && job.token === item.token',
    replace: 'job.state === RUNNING',
  },
  {
    name: 'a reaper that does not wait for the end of the lease',
    file: 'store-sqlite/reap.ts',
    find: 'WHERE state = 0 AND expires_at <= ? ORDER',
    replace: 'WHERE state = 0 AND expires_at <= ? + 9000 ORDER',
  },
  {
    name: 'a reaper that never comes',
    file: 'store-sqlite/reap.ts',
    find: 'WHERE state = 0 AND expires_at <= ? ORDER',
    replace: 'WHERE state = 0 AND expires_at <= ? - 1000000 ORDER',
  },
  {
    name: 'an order key that nobody waits for',
    file: 'store-sqlite/order-queue.ts',
    find: 'return lock?.job_pk === job.pk',
    replace: 'return true',
  },
  {
    name: 'a job that is ready before it is due',
    file: 'store-sqlite/stage.ts',
    find: 'AND in_order_queue = 0 AND due_at <= ? ORDER',
    replace: 'AND in_order_queue = 0 AND due_at <= ? + 1500 ORDER',
  },
  {
    name: 'a claim from a queue that is paused',
    file: 'store-sqlite/open-queues.ts',
    find: 'WHERE name = ? AND paused = 0 AND cool_until <= ?',
    replace: 'WHERE name = ? AND cool_until <= ?',
  },
  {
    name: 'a schedule that stops after its first instant',
    file: 'store-sqlite/tick.ts',
    find: 'nextAt: one.nextAt,',
    replace: 'nextAt: one.fires.length === 0 ? one.nextAt : null,',
  },
  {
    name: 'a tick that does not look whether its instant was served',
    file: 'store-sqlite/tick.ts',
    find: 'schedule.nextAt === from',
    replace: 'schedule.nextAt !== 0',
  },
  {
    name: 'a tick that is noted without its job',
    file: 'store-sqlite/tick.ts',
    find: 'return enqueue(work, [job]).map(({ id, outcome }) => {',
    replace: "return [{ id: job.id, outcome: 'enqueued' }].map(({ id, outcome }) => {",
  },
  {
    name: 'a hand-off that ignores jobs that wait',
    file: 'store-sqlite/hand-off.ts',
    find: 'return isOpen ? bestReadyPriority(work.sql, id)',
    replace: 'return isOpen ? Number.POSITIVE_INFINITY + id',
  },
  {
    name: 'a claim whose reply is lost, and nobody compares',
    file: 'work/compare.ts',
    find: 'if (lost.length > 0) {',
    replace: 'if (lost.length > 1_000_000) {',
  },
  {
    name: 'an outcome that is given up when it cannot be written at once',
    file: 'work/finisher.ts',
    find: 'await pause.wait(given.signal)',
    replace: 'if (Boolean(error)) return (tell(batch, []), false)',
  },
  {
    name: 'an enqueue that is acknowledged although its outcome is unknown',
    file: 'enqueue/send-until-known.ts',
    find: "if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') unknown = error",
    replace:
      "if (isJobmillError(error) && error.code === 'OUTCOME_UNKNOWN') return jobs.map(({ id }) => ({ id, outcome: 'enqueued' }))",
  },
  {
    name: 'a dedupe key that is not held after the end',
    file: 'store-sqlite/dedupe.ts',
    find: 'endedAs === DONE ? job.hold_ms !== 0 :',
    replace: 'endedAs === DONE ? job.hold_ms === 0 :',
  },
  {
    name: 'a dedupe key that is not looked at',
    file: 'store-sqlite/dedupe.ts',
    find: 'WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)',
    replace: 'WHERE key = ? AND (expires_at < 0 OR expires_at > ?)',
  },
  {
    name: 'permits that are not given back when their job ends',
    file: 'store-sqlite/permits.ts',
    find: 'DELETE FROM jobmill_permit WHERE holder = ? RETURNING',
    replace: 'DELETE FROM jobmill_permit WHERE holder = ? AND amount > 1 RETURNING',
  },
  {
    name: 'a claim that takes the youngest first',
    file: 'store-sqlite/ready-lanes.ts',
    find: 'ORDER BY priority, seq LIMIT ?`',
    replace: 'ORDER BY priority, seq DESC LIMIT ?`',
  },
  {
    name: 'an acknowledgement before the commit',
    file: 'enqueue/batcher.ts',
    find: 'const replies = await sendUntilKnown(',
    replace: `for (const { jobs, resolve } of batch) resolve(jobs.map(({ id }) => ({ id, outcome: 'enqueued' })))
      const replies = await sendUntilKnown(`,
  },
  {
    name: 'a retention that forgets a dedupe key along with its job',
    file: 'store-sqlite/retain.ts',
    find: 'for (const job of old) removeJob(work, job)',
    replace: `for (const job of old) removeJob(work, job)
  for (const { id } of old) sql('DELETE FROM jobmill_dedupe WHERE job_id = ?').run(id)`,
  },
  {
    name: 'a process that was given up and goes on',
    file: 'work/heartbeat.ts',
    find: 'if (!alive || stopped) return\n    alive = false',
    replace: 'if (alive || stopped) return\n    alive = false',
  },
  {
    name: 'a process that begins what a late answer brings, though its lease is over',
    file: 'work/dispatcher.ts',
    find: 'else if (isOurs()) options.take(leases)',
    replace: 'else if (leases.length >= 0) options.take(leases)',
  },
  {
    name: 'a reaper that does not wait for the others after an outage',
    file: 'work/contact.ts',
    find: 'since !== null && now - since >= leaseMs && ',
    replace: 'since !== null && ',
  },
  {
    name: 'a crash that is not taken back when its process is back',
    file: 'store-sqlite/lost-jobs.ts',
    find: 'SET crashes = max(crashes - 1, 0) WHERE',
    replace: 'SET crashes = max(crashes, 0) WHERE',
  },
  {
    name: 'a start that is tried again as the instance that failed',
    file: 'runtime/mill.ts',
    find: 'if (starts > 0) instance = newInstance()',
    replace: 'if (starts < 0) instance = newInstance()',
  },
]
