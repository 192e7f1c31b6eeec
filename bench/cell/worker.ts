// A process with workers only, for the cases in which one process enqueues and another works. It handles one
// request of its parent at a time and exits with it.
import { monotonicMs } from '../measure/clock.ts'
import type { WorkerResult } from '../case.ts'
import type { Opening, Place, Setting } from '../system.ts'
import { loadSystem } from '../systems.ts'

export interface WorkerSpec extends Opening {
  readonly system: string
  readonly setting: Setting
  readonly place: Place
}
export type Request = 'open' | 'work' | 'count' | 'settle' | 'stop'

const spec = JSON.parse(process.argv[2] ?? '{}') as WorkerSpec
const system = await loadSystem(spec.system, spec.place.store, spec.setting)
if (system.open === undefined) throw new Error(`${spec.system} is measured only with steps`)
const queue = await system.open(spec.place, spec)
const ran: number[] = []
const at: number[] = []
let cpu = process.cpuUsage()

async function work(): Promise<number> {
  cpu = process.cpuUsage()
  const began = monotonicMs()
  await queue.work((n) => {
    at.push(monotonicMs())
    ran.push(n)
  })
  return began
}

async function settle(): Promise<WorkerResult> {
  await queue.settled?.()
  const settledAt = queue.settled === undefined ? (at.at(-1) ?? monotonicMs()) : monotonicMs()
  const { user, system } = process.cpuUsage(cpu)
  return { ran, at, settledAt, cpu: user + system }
}

const verbs: Readonly<Record<Request, () => unknown>> = {
  open: () => true,
  work,
  count: () => ran.length,
  settle,
  stop: () => queue.stop(),
}

process.on('message', (request: Request) => {
  void Promise.resolve(verbs[request]()).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
// The parent process is gone.
process.on('disconnect', () => process.exit())
