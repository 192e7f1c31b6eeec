/**
 * A mill in a separate process, which can really die and really be stopped. It sends `ready`, `started KIND
 * ID TOKEN ATTEMPT`, `signal ID WHY MESSAGE` and `event TYPE ID`. On `{ let: KIND }` the handlers of a kind
 * return.
 */
import { defineJob, jobmill, type JobContext, stopOnSignals } from '../../src/index.ts'
import type { AnyJob } from '../../src/job/kind/definition.ts'
import { type Place, storeAt } from './place.ts'

export interface MillProcess {
  readonly place: Place
  /** Which kinds it has handlers for. */
  readonly kinds: readonly Kind[]
  readonly grace?: string
  readonly lease?: string
}

/**
 * hold: runs until it is released or aborted. stubborn: runs until it is released, whatever its signal says.
 * quick: returns at once. poison: kills its process. bystander: runs until it is the only one.
 */
export type Kind = 'hold' | 'stubborn' | 'quick' | 'poison' | 'bystander'

const task = JSON.parse(process.argv[2] ?? '{}') as MillProcess
const letGo = new Map<string, () => void>()
const released = new Map<Kind, Promise<void>>()
for (const kind of task.kinds) released.set(kind, new Promise((resolve) => letGo.set(kind, resolve)))

function tell(message: string): void {
  process.send?.(message)
}

function reportAttempt(context: JobContext): void {
  const { job, signal } = context
  tell(`started ${job.kind} ${job.id} ${job.token} ${job.attempt}`)
  signal.addEventListener('abort', () => {
    const { why, message } = signal.reason as { why: string; message: string }
    tell(`signal ${job.id} ${why} ${message}`)
  })
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  )

const running = new Set<string>()

const handlers: Readonly<Record<Kind, (context: JobContext) => unknown>> = {
  async hold(context) {
    await Promise.race([released.get('hold'), aborted(context.signal)])
    return process.pid
  },
  async stubborn() {
    await released.get('stubborn')
    return process.pid
  },
  quick: ({ job }) => job.attempt,
  poison: () => process.kill(process.pid, 'SIGKILL'),
  async bystander({ job, signal }) {
    if (job.crashes < 2) await aborted(signal)
    return [...running].filter((id) => id !== job.id)
  },
}

const jobs: AnyJob[] = task.kinds.map((kind) =>
  defineJob({
    kind,
    async run(context: JobContext) {
      running.add(context.job.id)
      reportAttempt(context)
      try {
        return await handlers[kind](context)
      } finally {
        running.delete(context.job.id)
      }
    },
    onDead({ dead, error }) {
      tell(`dead ${dead.id} ${error}`)
    },
  }),
)

const mill = jobmill({
  store: await storeAt(task.place),
  jobs,
  log: 'silent',
  lease: task.lease ?? '1m',
  renewEvery: '300ms',
  ...(task.grace === undefined ? {} : { grace: task.grace }),
})
mill.on('*', (event) => tell(`event ${event.type} ${'id' in event ? event.id : ''}`))
stopOnSignals(mill, {
  stopped: () => {
    tell('stopped')
    process.disconnect()
    // A stubborn handler would keep the process alive.
    process.exitCode = 0
  },
})
process.on('message', ({ let: kind }: { let: Kind }) => letGo.get(kind)?.())
await mill.start()
tell('ready')
