/**
 * A mill with an alert rule in a separate process, which kills itself at a given point. It sends `passed`
 * when a pass of the duty has removed what it enqueued from the outbox, and `finished` when a job is done.
 * Every message that it receives starts a pass.
 */
import { defineJob, jobmill } from '../../src/index.ts'
import { aroundVerbs } from '../../src/store/verbs.ts'
import type { AlertWrite } from '../../src/store/types/alert.ts'
import { type Place, storeAt } from './place.ts'

export interface AlertProcess {
  readonly place: Place
  readonly url: string
  readonly secret: string
  /** Before the message is enqueued, before the outbox is emptied, or before its delivery is recorded. */
  readonly dieAt?: 'enqueue' | 'clear' | 'finish'
}

const task = JSON.parse(process.argv[2] ?? '{}') as AlertProcess
const tell = (message: string): void => void process.send?.(message)

function dies(point: AlertProcess['dieAt']): boolean {
  if (task.dieAt === point) process.kill(process.pid, 'SIGKILL')
  return task.dieAt === point
}

const never = new Promise<never>(() => {})
/** Whether this process enqueued a message that is still in the outbox. */
let isEnqueued = false

const store = aroundVerbs(
  await storeAt(task.place),
  ['enqueue', 'alerts.put', 'finish'],
  (verb, call) =>
    async (...args) => {
      if (verb === 'finish') {
        if (dies('finish')) return never
      } else if (verb === 'enqueue') {
        if (dies('enqueue')) return never
        const reply = await call(...args)
        isEnqueued = true
        return reply
      } else if (isEnqueued && (args[0] as AlertWrite).state.outbox.length === 0) {
        if (dies('clear')) return never
        const reply = await call(...args)
        tell('passed')
        return reply
      }
      return call(...args)
    },
)

const { url, secret } = task
const mill = jobmill({
  store,
  jobs: [defineJob({ kind: 'other', run: () => null })],
  alerts: { ops: { check: 'dead', url, secret } },
  log: 'silent',
  lease: '2s',
  renewEvery: '300ms',
})
mill.on('finished', ({ kind }) => tell(`finished ${kind}`))
process.on('message', () => void mill.runDuty('alert'))
await mill.start()
