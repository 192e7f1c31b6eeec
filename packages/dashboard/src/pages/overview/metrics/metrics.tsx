/** Headline metrics: the last minutes, compared with an hour ago. */
import { serverTime } from '../../../api/clock.ts'
import { useDiagnostics, useOverview, useWorkers } from '../../../api/reads.ts'
import { compact, number, percent, plural, rate, span } from '../../../kit/text/format.ts'
import {
  changeOf,
  hourBefore,
  levelsAt,
  perSecondIn,
  RECENT_MINUTES,
  recentOf,
  successIn,
} from './compare.ts'
import { LoadingMetric, Metric, type MetricProps } from './metric.tsx'
import { useRecent } from './use-recent.ts'
import { workersOf } from '../../../metrics/workers.ts'

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
const whole = (numbers: readonly number[] | null): number | null =>
  numbers === null ? null : Math.round(sum(numbers))

export function HeadlineMetrics() {
  const metrics = useMetrics()
  const isPending = [useOverview(), useRecent()].some((read) => read.isPending)
  return (
    <section aria-label="Current metrics, compared with an hour ago">
      <div className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-3 xl:grid-cols-6">
        {badFirst(metrics).map(({ name, ...metric }) =>
          isPending ? (
            <LoadingMetric key={name} name={name} />
          ) : (
            <Metric key={name} name={name} {...metric} />
          ),
        )}
      </div>
    </section>
  )
}

/** Bad metrics come first. The others keep their order. */
function badFirst(metrics: readonly MetricProps[]): readonly MetricProps[] {
  return metrics.toSorted((a, b) => Number(b.isBad ?? false) - Number(a.isBad ?? false))
}

/** A success rate below this is bad, whatever it was an hour ago. */
const BAD_SUCCESS = 0.9

function useMetrics(): MetricProps[] {
  const { data: recent, dataUpdatedAt } = useRecent()
  const overview = useOverview().data
  const shown = overview?.queues ?? []
  const counts = shown.map((queue) => queue.counts)
  const workers = useWorkers().data
  const queues = recent?.queues ?? []
  const now = recentOf(serverTime(dataUpdatedAt))
  const before = hourBefore(now)
  // A mill that started after `before` has nothing to compare with.
  const isOld =
    queues.some(({ points }) => points.some(({ at }) => at < before.to)) ||
    (overview?.instances ?? []).some(({ startedAt }) => startedAt < before.from)
  // Empty queues are not written, so they have no points.
  const levels = (level: Parameters<typeof levelsAt>[1]): readonly number[] | null =>
    levelsAt(queues, level, before) ?? (isOld ? [0] : null)

  const failing = (useDiagnostics().data?.diagnostics ?? []).filter(
    ({ check, level }) => check === 'failing' && level === 'error',
  ).length
  const done = perSecondIn(queues, 'done', now)
  const success = successIn(queues, now)
  const ready = sum(counts.map((one) => one.ready))
  const running = sum(counts.map((one) => one.running))
  const dead = sum(counts.map((one) => one.dead))
  const waits = Math.max(0, ...counts.map((one) => one.oldestReadyMs ?? 0))
  const waited = levels('oldestReadyMs')
  const slots =
    workers === undefined
      ? null
      : workersOf(
          overview?.queues.map((queue) => queue.settings),
          workers,
        )
  const counted = { format: number }
  const deadChange = changeOf(dead, whole(levels('dead')), { ...counted, upIs: 'worse' })
  const recently = `in the last ${RECENT_MINUTES} minutes`

  return [
    {
      name: 'Throughput',
      value: rate(done),
      change: changeOf(done, isOld ? perSecondIn(queues, 'done', before) : null, {
        format: rate,
        // A lower throughput is worse only while jobs wait. A higher one is not better while a kind fails.
        upIs: ready > 0 && failing === 0 ? 'better' : null,
        noise: 0.05,
      }),
      about: `Average rate of completed jobs ${recently}. A drop counts as worse when jobs are waiting, unless a kind is failing.`,
      to: '/jobs?state=done',
    },
    {
      name: 'Oldest ready job',
      value: ready === 0 ? 'none' : span(waits),
      change: changeOf(waits, waited === null ? null : Math.max(...waited), {
        format: span,
        upIs: 'worse',
        noise: 0.05,
      }),
      about: 'The longest time that a job has been ready, in any queue.',
      to: '/jobs?state=ready',
    },
    {
      name: 'Success rate',
      value: success === null ? '–' : percent(success),
      isBad: failing > 0 || (success !== null && success < BAD_SUCCESS),
      ...(failing > 0 && { unit: `${number(failing)} failing` }),
      change: changeOf(success, isOld ? successIn(queues, before) : null, {
        format: (share) => `${(share * 100).toFixed(1)} pp`,
        upIs: 'better',
        noise: 0.002,
      }),
      about: `Share of attempts that succeeded ${recently}, and the number of failing kinds. Snoozed, throttled, cancelled and interrupted attempts do not count.`,
      to: '/errors',
    },
    {
      name: 'Running',
      value: compact(running),
      unit: slots === null ? 'jobs' : `of ${plural(slots, 'worker')}`,
      change: changeOf(running, whole(levels('running')), { ...counted, upIs: null }),
      about:
        'Running jobs, and the workers of all live processes. A process with a lower capacity runs fewer jobs.',
      to: '/jobs?state=running',
    },
    {
      name: 'Ready',
      value: compact(ready),
      unit: ready === 1 ? 'job' : 'jobs',
      change: changeOf(ready, whole(levels('ready')), { ...counted, upIs: 'worse' }),
      about: 'Jobs that are due and waiting for a worker.',
      to: '/jobs?state=ready',
    },
    {
      name: 'Dead',
      value: compact(dead),
      unit: dead === 1 ? 'job' : 'jobs',
      isBad: deadChange?.verdict === 'worse' || (failing > 0 && dead > 0),
      change: deadChange,
      about:
        'Jobs that failed permanently. They stay until they are retried, deleted or removed by retention.',
      to: '/jobs?state=dead',
    },
  ]
}
