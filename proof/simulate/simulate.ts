/**
 * One seed, one history: several processes with the real runtime on one store, under load and faults. Then
 * the faults end, everything must come to rest, and the checker reports violations.
 */
import { createHash } from 'node:crypto'
import type { FullStore } from 'jobmill'
import { isEnded } from 'jobmill/store'
import { checkHistory, type Violation } from '../history/check.ts'
import type { Entry } from '../history/entry.ts'
import { callers } from './callers.ts'
import { type Chance, chance as chanceFrom } from './chance.ts'
import { KEEP_DONE_MS, LIMITS, QUEUES, simulatedJobs } from './jobs.ts'
import { allJobs, looked } from './look.ts'
import { pauses } from './faults/pauses.ts'
import { requests } from './faults/requests.ts'
import { type SimulatedProcess, simulatedProcess } from './process/process.ts'
import { recorder as createRecorder, type Recorder } from './recorder.ts'
import { clockOf, openStore, through } from './process/store.ts'
import { stepCallers } from './steps/step-callers.ts'
import { stepJob } from './steps/step-job.ts'
import { FAIR, trouble, type Troubles, weatherFor } from './faults/trouble.ts'
import { world as createWorld, type World } from './world.ts'

export interface Simulated {
  readonly seed: number
  readonly history: readonly Entry[]
  readonly violations: readonly Violation[]
  /** The same for the same seed. */
  readonly fingerprint: string
  readonly troubles: Troubles
  readonly steps: number
}

const BEAT_MS = 3_000
/**
 * The duration of load and faults, and the time to come to rest: the lease, a reap, and the longest retries.
 */
const ACT_MS = 13_000
const SHORT_ACT_MS = 5_000
const CATCH_UP_MS = 2 * BEAT_MS
const END_MS = ACT_MS + CATCH_UP_MS + 90_000
const WORKERS = 3
const START_AGAIN_MS = 500
/** A lost leader is replaced within its lease. Ticks that are not served by then are missing. */
const LATE_MS = 20_000

/**
 * A short simulation has faults for less time. It is a separate history from the full one with the same seed.
 */
export async function simulate(
  seed: number,
  { short = false }: { readonly short?: boolean } = {},
): Promise<Simulated> {
  const actMs = short ? SHORT_ACT_MS : ACT_MS
  const chance = chanceFrom(seed)
  const world = createWorld()
  const recorder = createRecorder({
    // In whole milliseconds, like the store.
    now: () => Math.floor(world.now()),
    limitOf: (queue) => (queue === 'narrow' ? 'narrow' : undefined),
    isGivenBack: (limit) => limit !== 'drops',
  })
  world.afterSteps(recorder.writeDown)
  const clock = clockOf(world)
  const store = await openStore(world, chance.fork())
  noteSettings(recorder)

  const scene = { world, store, recorder }
  const weather = weatherFor(chance.fork())
  const start = startProcesses(scene, chance.fork(), weather)
  const workers = Array.from({ length: WORKERS }, (_, n) => start(`worker ${n}`))
  const client = start('client')
  for (const one of workers) startWithRetries(world, one)
  const calling = callers({ ...scene, client, workers, chance: chance.fork() })
  const endPauses = pauses({ ...scene, chance: chance.fork() })
  const troubles = trouble({
    world,
    chance: chance.fork(),
    workers,
    gone: ({ mill }) => recorder.note({ what: 'gone', instance: mill.instance.id }),
    start: (name) => startWithRetries(world, start(name)),
  })
  // Drawn last, so that they change nothing in a seed without requests or steps.
  const endRequests = requests({ ...scene, workers, chance: chance.fork() })
  const stepping = stepCallers({ ...scene, client, workers, chance: chance.fork() })
  await world.run(actMs)

  endRequests()
  troubles.end()
  calling.stop()
  stepping.stop()
  endPauses()
  Object.assign(weather, FAIR)
  // The faults may leave work to recover, and the schedule has to catch up.
  await world.run(actMs + CATCH_UP_MS)
  const plannedUntil = await caughtUp(scene, clock)
  void store.schedules.change('beat', { paused: true })
  const isOver = (): boolean => calling.isOver() && stepping.isOver() && recorder.open.size === 0
  await world.run(END_MS, isOver)
  calling.check()
  stepping.check()
  await lastLook(scene, plannedUntil)
  await through(world, store.close())
  const { history } = recorder
  return {
    seed,
    history,
    violations: checkHistory(history),
    fingerprint: fingerprintOf(history),
    troubles: troubles.counts,
    steps: world.steps(),
  }
}

interface Scene {
  readonly world: World
  readonly store: FullStore<never>
  readonly recorder: Recorder
}

export function fingerprintOf(history: readonly Entry[]): string {
  return createHash('sha256').update(JSON.stringify(history, withMaps)).digest('hex')
}

function withMaps(_: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value
}

/** Restarts a process that cannot start, as a supervisor would. */
export function startWithRetries(world: World, process: SimulatedProcess): SimulatedProcess {
  const { owner, mill } = process
  mill.start().catch(() => world.after(START_AGAIN_MS, owner, () => startWithRetries(world, process)))
  return process
}

function startProcesses(
  scene: Scene,
  chance: Chance,
  weather: ReturnType<typeof weatherFor>,
): (name: string) => SimulatedProcess {
  return (name) => {
    const own = chance.fork()
    return simulatedProcess({
      ...scene,
      chance: own,
      weather,
      name,
      jobs: (process) =>
        name === 'client'
          ? []
          : [
              ...simulatedJobs(process, scene.recorder, own.fork()),
              stepJob(process, scene.recorder, own.fork()),
            ],
      settings:
        name === 'client'
          ? {}
          : {
              queues: QUEUES,
              serve: Object.keys(QUEUES),
              limits: LIMITS,
              // A tick retention so short that only the next planned tick prevents a repeat.
              retain: { every: 1_000, ticks: 500 },
              schedules: [
                { name: 'beat', job: 'plain', when: `every ${BEAT_MS}ms`, payload: { ms: 1 }, missed: 'all' },
              ],
            },
    })
  }
}

function noteSettings(recorder: Recorder): void {
  for (const queue of Object.keys(QUEUES)) recorder.note({ what: 'keeps', queue, doneMs: KEEP_DONE_MS })
  recorder.note({ what: 'limit set', limit: 'narrow', allows: { most: LIMITS.narrow.concurrency } })
  recorder.note({ what: 'limit set', limit: 'seats', allows: { most: LIMITS.seats.concurrency } })
  const { rate, burst } = LIMITS.drops
  recorder.note({ what: 'limit set', limit: 'drops', allows: { amount: rate, perMs: 1_000, burst } })
}

/** Waits until all planned ticks are served or overdue. Returns the time until which ticks are due. */
async function caughtUp({ world, store }: Scene, clock: () => number): Promise<number> {
  const until = world.now() + LATE_MS
  for (;;) {
    const [beat] = await through(world, store.schedules.list())
    const now = clock()
    if (beat !== undefined && (beat.nextAt ?? 0) > now) return now
    if (world.now() > until) return now
    await world.run(world.now() + 250)
  }
}

/** Reads the whole store, and records the ticks that were due. */
async function lastLook({ world, store, recorder }: Scene, plannedUntil: number): Promise<void> {
  let jobs = await allJobs(world, store)
  // Wait for jobs that a late call wrote again after they were done and deleted.
  while (jobs.some(({ state }) => !isEnded(state)) && world.now() < END_MS) {
    await world.run(world.now() + 1_000)
    jobs = await allJobs(world, store)
  }
  const schedules = await through(world, store.schedules.list())
  for (const { name, createdAt } of schedules) {
    const instants: number[] = []
    for (let at = createdAt + BEAT_MS; at <= plannedUntil; at += BEAT_MS) instants.push(at)
    recorder.note({ what: 'planned', schedule: name, instants })
  }
  recorder.note({ what: 'look', ...looked(jobs), isLast: true })
}
