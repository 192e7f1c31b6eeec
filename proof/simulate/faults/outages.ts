/**
 * One seed, one history of outages: two to six processes with jobs longer than a lease, and a store that
 * becomes unreachable repeatedly, for times around the lease. Some histories also kill a process. At the end
 * every job must be done, with as many crashes as processes died under it.
 */
import { type AnyJob, defineJob, type JobContext } from 'jobmill'
import { checkHistory } from '../../history/check.ts'
import { type Chance, chance as chanceFrom } from '../chance.ts'
import { allJobs, looked } from '../look.ts'
import { type SimulatedProcess, simulatedProcess } from '../process/process.ts'
import { recorder as createRecorder, type Recorder } from '../recorder.ts'
import { startWithRetries, fingerprintOf, type Simulated } from '../simulate.ts'
import { openStore, through } from '../process/store.ts'
import { FAIR } from './trouble.ts'
import { world as createWorld, type World } from '../world.ts'

/** One in this many seeds also has a history of outages. */
export const OUTAGES_EVERY = 4

/**
 * Around the limits of the lease (10 s), its renewal (3 s) and the deadline of a heartbeat (a third of the
 * lease).
 */
const OUTAGES_MS = [900, 2_900, 3_100, 3_400, 6_000, 6_700, 9_900, 10_000, 10_100, 13_000, 21_000]
const APART_MS = [300, 2_000, 4_500, 9_000, 11_000, 25_000]
const JOBS_MS = [2_000, 8_000, 15_000, 40_000]
/** More than all outages and all jobs one after the other. */
const END_MS = 900_000
/** All live processes have reconnected by then. */
const REST_MS = 15_000

/** The faults of such a history besides the outages. */
interface Plan {
  readonly processes: number
  readonly outages: readonly { readonly afterMs: number; readonly ms: number }[]
  /** The maximum reconnect delay after the first process. */
  readonly unevenMs: number
  /** The outage during which a process is killed; null for none. */
  readonly killAt: number | null
  /** How long one process alone is cut off afterwards: it is reaped, and reconnects. */
  readonly aloneMs: number
}

function planFor(chance: Chance): Plan {
  const outages = Array.from({ length: chance.whole(1, 6) }, () => ({
    afterMs: chance.pick(APART_MS),
    ms: chance.pick(OUTAGES_MS) + chance.between(-50, 50),
  }))
  return {
    processes: chance.whole(2, 6),
    outages,
    unevenMs: chance.pick([0, 0, 300, 3_000]),
    killAt: chance.isIt(0.4) ? chance.whole(0, outages.length - 1) : null,
    aloneMs: chance.pick([0, 12_000, 20_000]),
  }
}

export async function simulateOutages(seed: number): Promise<Simulated> {
  const chance = chanceFrom(seed)
  const world = createWorld()
  const recorder = createRecorder({
    now: () => Math.floor(world.now()),
    limitOf: () => undefined,
    isGivenBack: () => true,
  })
  world.afterSteps(recorder.writeDown)
  const store = await openStore(world, chance.fork())
  const plan = planFor(chance.fork())
  const scene = { world, store, recorder, weather: { ...FAIR, slowestMs: chance.pick([2, 20, 200]) } }
  const start = (name: string): SimulatedProcess =>
    startWithRetries(world, simulatedProcess({ ...scene, ...work(recorder), name, chance: chance.fork() }))
  const processes = Array.from({ length: plan.processes }, (_, n) => start(`worker ${n}`))
  await world.run(1_000)
  await enqueueLong(world, recorder, processes, chance.fork())
  const kills = await outagesOf(plan, { world, recorder, processes, start, chance: chance.fork() })
  await cutOffAlone(world, chance.pick(processes), plan.aloneMs)
  await world.run(END_MS, () => recorder.open.size === 0)
  await world.run(world.now() + REST_MS)
  recorder.note({ what: 'look', ...looked(await allJobs(world, store)), isLast: true })
  await through(world, store.close())
  const { history } = recorder
  return {
    seed,
    history,
    violations: checkHistory(history),
    fingerprint: fingerprintOf(history),
    troubles: { kills, stills: 0, stops: 0, steps: 0, cuts: 0, outages: plan.outages.length },
    steps: world.steps(),
  }
}

function work(recorder: Recorder) {
  return {
    settings: { queues: { default: { workers: 3 } }, serve: ['default'] },
    jobs: (process: Pick<SimulatedProcess, 'owner' | 'platform'>) => [longJob(recorder, process)],
  }
}

/** Obeys its signal, and records its actions in the history. */
function longJob(
  recorder: Recorder,
  { owner, platform }: Pick<SimulatedProcess, 'owner' | 'platform'>,
): AnyJob {
  return defineJob({
    kind: 'long',
    async run({ payload, job, signal }: JobContext<{ readonly ms: number }>) {
      const attempt = { job: job.id, token: job.token, instance: owner.name }
      recorder.note({ what: 'started', ...attempt, heldUpMs: 0 })
      await new Promise<void>((resolve, reject) => {
        const timer = platform.timer(payload.ms, resolve)
        signal.addEventListener('abort', () => {
          timer.cancel()
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- it is an interruption
          reject(signal.reason as Error)
        })
      })
      recorder.note({ what: 'effect', ...attempt, awakeMs: platform.awakeMs() })
      recorder.note({ what: 'ended', ...attempt })
    },
  })
}

/** Through a working process, so that direct dispatch applies to some. */
async function enqueueLong(
  world: World,
  recorder: Recorder,
  processes: readonly SimulatedProcess[],
  chance: Chance,
): Promise<void> {
  for (let n = 0; n < 3 * processes.length; n += 1) {
    const enqueued = chance.pick(processes).mill.enqueue('long', { ms: chance.pick(JOBS_MS) })
    recorder.note({ what: 'acknowledged', job: (await through(world, enqueued)).id })
  }
}

/** Other processes stay connected, so this one counts as crashed until it is back. */
async function cutOffAlone(world: World, { line }: SimulatedProcess, ms: number): Promise<void> {
  if (ms === 0) return
  await world.run(world.now() + REST_MS)
  line.cut = true
  await world.run(world.now() + ms)
  line.cut = false
}

interface Outages {
  readonly world: World
  readonly recorder: Recorder
  readonly processes: SimulatedProcess[]
  readonly start: (name: string) => SimulatedProcess
  readonly chance: Chance
}

/** Returns the number of killed processes. */
async function outagesOf(
  plan: Plan,
  { world, recorder, processes, start, chance }: Outages,
): Promise<number> {
  let kills = 0
  for (const [n, { afterMs, ms }] of plan.outages.entries()) {
    await world.run(world.now() + afterMs)
    recorder.note({ what: 'outage', isOver: false })
    for (const { line } of processes) line.cut = true
    await world.run(world.now() + ms / 2)
    if (plan.killAt === n) {
      kills += 1
      const at = chance.whole(0, processes.length - 1)
      const killed = processes[at]
      if (killed !== undefined) {
        recorder.note({ what: 'gone', instance: killed.mill.instance.id })
        world.kill(killed.owner)
      }
      processes[at] = start(`worker ${at} again`)
      processes[at].line.cut = true
    }
    await world.run(world.now() + ms / 2)
    recorder.note({ what: 'outage', isOver: true })
    for (const { line } of processes)
      world.after(chance.between(0, plan.unevenMs), null, () => void (line.cut = false))
    // All processes must have reconnected before the next outage, or the two would count as one.
    await world.run(world.now() + plan.unevenMs)
  }
  return kills
}
