/**
 * One seed, one history of rolling deploys: processes with different versions of a kind with durable steps
 * run side by side, jobs are cancelled in every state, and `onCancelled` comes and goes with the releases.
 * The faults are those of the other histories.
 */
import type { FullStore } from 'jobmill'
import { isEnded, ON_CANCELLED_QUEUE } from 'jobmill/store'
import { checkHistory } from '../../history/check.ts'
import { chance as chanceFrom } from '../chance.ts'
import { FAIR, trouble, weatherFor } from '../faults/trouble.ts'
import { KEEP_DONE_MS, QUEUES } from '../jobs.ts'
import { allJobs, looked } from '../look.ts'
import { type SimulatedProcess, simulatedProcess } from '../process/process.ts'
import { openStore, through } from '../process/store.ts'
import { recorder as createRecorder, type Recorder } from '../recorder.ts'
import { fingerprintOf, type Simulated, startWithRetries } from '../simulate.ts'
import { world as createWorld, type World } from '../world.ts'
import { deployCallers } from './callers.ts'
import { deployJobs } from './jobs.ts'
import { releasesFor, rollout } from './rollout.ts'

/** One in this many seeds also has a history of deploys. */
export const DEPLOYS_EVERY = 2

const ACT_MS = 12_000
const SHORT_ACT_MS = 6_000
const END_MS = ACT_MS + 100_000
const WORKERS = 3

export async function simulateDeploys(
  seed: number,
  { short = false }: { readonly short?: boolean } = {},
): Promise<Simulated> {
  // Not the same draws as those of the other history of this seed.
  const chance = chanceFrom(seed).fork()
  const world = createWorld()
  const recorder = createRecorder({
    now: () => Math.floor(world.now()),
    limitOf: () => undefined,
    isGivenBack: () => true,
  })
  world.afterSteps(recorder.writeDown)
  const store = await openStore(world, chance.fork())
  const queues = { default: QUEUES.default, side: QUEUES.side }
  for (const queue of Object.keys(queues)) recorder.note({ what: 'keeps', queue, doneMs: KEEP_DONE_MS })
  const weather = weatherFor(chance.fork())
  const scene = { world, store, recorder, weather }
  const deploys = rollout(releasesFor(chance.fork()))
  const processChance = chance.fork()
  const start = (name: string, at: number): SimulatedProcess => {
    const own = processChance.fork()
    const release = deploys.releaseOf(at)
    return startWithRetries(
      world,
      simulatedProcess({
        ...scene,
        chance: own,
        name,
        jobs: (process) => deployJobs(process, recorder, own.fork(), release),
        settings: { queues, serve: Object.keys(queues), retain: { every: 1_000 } },
      }),
    )
  }
  const workers = Array.from({ length: WORKERS }, (_, at) => start(`worker ${at}`, at))
  const client = simulatedProcess({
    ...scene,
    chance: chance.fork(),
    name: 'client',
    jobs: () => [],
    settings: {},
  })
  const calling = deployCallers({ ...scene, client, workers, chance: chance.fork() })
  const gone = ({ mill }: SimulatedProcess): void =>
    recorder.note({ what: 'gone', instance: mill.instance.id })
  const troubles = trouble({ world, chance: chance.fork(), workers, gone, start })
  deploys.begin({ world, chance: chance.fork(), workers, gone, start })
  await world.run(short ? SHORT_ACT_MS : ACT_MS)

  calling.stop()
  deploys.end()
  troubles.end()
  Object.assign(weather, FAIR)
  await world.run(END_MS, () => calling.isOver() && recorder.open.size === 0)
  calling.check()
  await lastLook(scene)
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

async function lastLook({ world, store, recorder }: Scene): Promise<void> {
  let jobs = await allJobs(world, store)
  // Follow-ups of cancels are open without being recorded.
  while (jobs.some(({ state }) => !isEnded(state)) && world.now() < END_MS) {
    await world.run(world.now() + 1_000)
    jobs = await allJobs(world, store)
  }
  const ids = jobs.flatMap(({ id, queue }) => (queue === ON_CANCELLED_QUEUE ? id : []))
  const records = await through(world, store.get(ids))
  const followUps = new Map<string, string>()
  for (const record of records)
    if (record !== null) followUps.set(record.id, (JSON.parse(record.payload) as { readonly id: string }).id)
  recorder.note({ what: 'look', ...looked(jobs), followUps, isLast: true })
}
