/** Job metrics of this process by queue, since its start. */
import type { AttemptEnd, Counter, Tally } from '../tally.ts'
import { counter, type Family, histogram, histogramSamples, type Sample } from './text.ts'

/** A record instead of a list, so that the compiler requires a name for every new outcome. */
const OUTCOMES: Readonly<Record<AttemptEnd, string>> = {
  done: 'done',
  retried: 'retried',
  dead: 'dead',
  cancelled: 'cancelled',
  snoozed: 'snoozed',
  parked: 'parked',
  throttled: 'throttled',
  timedOut: 'timed_out',
  interrupted: 'interrupted',
}

const ENDS = Object.keys(OUTCOMES) as AttemptEnd[]

/**
 * Every family lists every queue, even with zeros: a rate over a series that appears with its first job would
 * miss that job.
 */
export function queueFamilies(queues: ReadonlyMap<string, Tally>): Family[] {
  const all = [...queues].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const count = (name: Counter): Sample[] =>
    all.map(([queue, { counters }]) => ({ labels: { queue }, value: counters[name] ?? 0 }))
  const times = (latency: 'waiting' | 'running'): Sample[] =>
    all.flatMap(([queue, { histograms, sums }]) =>
      histogramSamples({ queue }, histograms[latency], sums[latency]),
    )
  const reaped = all.reduce((sum, [, { counters }]) => sum + (counters.reaped ?? 0), 0)
  return [
    counter('jobs_enqueued_total', 'New jobs enqueued by this process.', count('enqueued')),
    counter('jobs_claimed_total', 'Attempts started in this process.', count('started')),
    counter(
      'attempts_finished_total',
      'Attempts of this process with a written outcome, each counted once. A timed-out attempt counts as timed out, whatever happened to its job.',
      all.flatMap(([queue, { ended }]) =>
        ENDS.map((end) => ({ labels: { queue, outcome: OUTCOMES[end] }, value: ended[end] ?? 0 })),
      ),
    ),
    counter(
      'retries_total',
      'Attempts of this process that failed or timed out and will be retried.',
      count('retried'),
    ),
    counter(
      'jobs_dead_total',
      'Jobs that failed permanently in this process, after an attempt or when its reaper reclaimed them.',
      count('dead'),
    ),
    counter('steps_recorded_total', 'Durable steps recorded by this process.', count('stepsRecorded')),
    counter('steps_failed_total', 'Runs of durable steps that failed in this process.', count('stepsFailed')),
    counter('reaped_jobs_total', 'Jobs that this process reclaimed from dead processes.', reaped),
    histogram(
      'job_wait_seconds',
      'Queue latency: from ready to started, for every attempt. A value within 4% of a bucket bound may count as above it.',
      times('waiting'),
    ),
    histogram(
      'job_run_seconds',
      'Run time of an attempt, whatever its outcome. A value within 4% of a bucket bound may count as above it.',
      times('running'),
    ),
  ]
}
