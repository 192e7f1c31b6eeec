/** Reads the data of each screen, in a few queries. */
import type { Mill } from '../../runtime/mill.ts'
import type { AttemptView, JobView } from '../../runtime/operate/job-view.ts'
import type { PolicyView } from '../../runtime/operate/policy.ts'
import type { InstanceSeries, QueueSeries } from '../../runtime/report/series.ts'
import { systemPlatform } from '../../platform/platform.ts'
import type { Why } from '../../runtime/diagnose/why.ts'
import type { InstanceRecord } from '../../store/types/instance.ts'
import type { JobSummary } from '../../store/types/job-record.ts'
import { type CountedQueue, countedQueues } from '../queues/view.ts'
import type { Place } from './state.ts'

export interface TopQueue extends CountedQueue {
  /** Metrics of the last minute; null when nothing happened. */
  readonly totals: QueueSeries['all'] | null
}

export interface TopInstance extends InstanceRecord {
  readonly totals: InstanceSeries['all'] | null
}

/** The data of the first screen. */
export interface Overview {
  readonly kind: 'queues'
  readonly at: number
  readonly store: string
  readonly queues: readonly TopQueue[]
  /** Live instances first. */
  readonly instances: readonly TopInstance[]
  /** The latest dead jobs. */
  readonly dead: readonly JobSummary[]
}

export interface QueueJobs {
  readonly kind: 'queue'
  readonly at: number
  readonly queue: string
  readonly ready: readonly JobSummary[]
  readonly running: readonly JobSummary[]
  readonly dead: readonly JobSummary[]
}

export interface OneJob {
  readonly kind: 'job'
  readonly at: number
  readonly id: string
  /** Null when the job no longer exists. */
  readonly job: JobView | null
  readonly history: readonly AttemptView[]
  readonly why: Why | null
  /** Null when the job no longer exists. */
  readonly policy: PolicyView | null
}

export type View = Overview | QueueJobs | OneJob

const MINUTE = 60_000
const LISTED = 20
const STATES = ['alive', 'expired', 'lost', 'stopped'] as const

export async function overview(mill: Mill, store: string): Promise<Overview> {
  const at = systemPlatform.now()
  const [queues, counts, instances, metrics, dead] = await Promise.all([
    mill.queues(),
    mill.counts(),
    mill.instances(),
    mill.metrics({ from: at - MINUTE }),
    mill.list({ state: 'dead' }, { limit: LISTED }),
  ])
  return {
    kind: 'queues',
    at,
    store,
    queues: countedQueues(queues, counts, instances, (name) => ({
      totals: metrics.queues.find(({ queue }) => queue === name)?.all ?? null,
    })),
    instances: instances
      .map((one) => ({
        ...one,
        totals: metrics.instances.find(({ instance }) => instance === one.id)?.all ?? null,
      }))
      .toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state)),
    dead: dead.jobs,
  }
}

export async function viewOf(mill: Mill, place: Place, store: string): Promise<View> {
  const at = systemPlatform.now()
  if (place.kind === 'queues') return overview(mill, store)
  if (place.kind === 'job') {
    const [job, history, why] = await Promise.all([
      mill.get(place.id),
      mill.history(place.id),
      mill.why(place.id),
    ])
    const policy = job === null ? null : await mill.policy(job)
    return { kind: 'job', at, id: place.id, job, history, why, policy }
  }
  const { queue } = place
  const [ready = [], running = [], dead = []] = await Promise.all(
    (['ready', 'running', 'dead'] as const).map(
      async (state) => (await mill.list({ queue, state }, { limit: LISTED })).jobs,
    ),
  )
  return { kind: 'queue', at, queue, ready, running, dead }
}
