/**
 * Jobs with durable steps, and jobs that wait for events, while processes are killed one after another: no
 * recorded step runs again, and each event is received once.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jobmill, type Mill } from 'jobmill'
import { startPostgres } from '../../../test/support/postgres/postgres-server.ts'
import { bundlePrograms } from '../../../test/support/programs/bundle-programs.ts'
import { nowMs } from '../../cluster/clock.ts'
import { type Place, storeAt } from '../../cluster/places.ts'
import { allEnded } from '../../cluster/verdict/in-store.ts'
import type { Chance } from '../../simulate/chance.ts'
import { type Processes, processes } from '../crew/processes.ts'
import { ledgers as createLedgers } from '../steps/ledgers.ts'
import { type Senders, senders as createSenders } from '../steps/senders.ts'
import { stepFigures, stepsBroken } from '../steps/verdict.ts'
import { STEPS_KIND, type StepsPayload, type StepTask } from '../steps/kinds.ts'
import type { RoundOptions, RoundResult } from './round.ts'

const NAME = 'steps'
const WORKERS = 3
const KILL_EVERY_MS = 1_000
const STEPS_PER_JOB = 20
const WAITS_PER_JOB = 5
const LOOK_MS = 20
/** Jobs that are enqueued or read at once. */
const AT_ONCE = 50

export interface StepAmounts {
  readonly jobs: number
  readonly events: number
  readonly kills: number
  /** How long after the last kill all jobs must have ended. */
  readonly endMs: number
}

export const QUICK_STEPS: StepAmounts = { jobs: 100, events: 2_000, kills: 20, endMs: 60_000 }
export const FULL_STEPS: StepAmounts = { jobs: 1_000, events: 100_000, kills: 200, endMs: 900_000 }

export async function steps(
  options: Omit<RoundOptions, 'nemeses' | 'rate'>,
  amounts: StepAmounts,
): Promise<RoundResult> {
  const { store, folder, closing, signal, chance } = options
  const beganAt = nowMs()
  mkdirSync(folder, { recursive: true })
  const place = await emptyPlace(options)
  // Processes start all the time, and start three times faster from a bundle.
  const crew = processes<StepTask>(folder, path.join(await bundlePrograms(), 'proof/chaos/steps/worker.js'))
  closing(crew.destroy)
  const mill = jobmill({ store: await storeAt(place), log: 'silent' })
  closing(() => mill.stop())
  await mill.open()
  const start = (): Promise<ChildProcess> => crew.start((ledger) => ({ place, ledger }))
  const workers = await Promise.all(Array.from({ length: WORKERS }, start))
  const { jobs, events, kills } = amounts
  console.log(`\n${NAME} on ${store}: ${jobs} jobs, ${events} events, ${kills} kills`)
  const sending = createSenders(mill, chance.fork())
  const watched = watch(crew, sending)
  const enqueued = enqueueAll(mill, sending, amounts, chance.fork())
  // Awaited below.
  enqueued.catch(() => {})
  let killedAt = nowMs()
  for (let n = 0; n < kills; n += 1) {
    const at = chance.whole(0, WORKERS - 1)
    const replace = async (): Promise<void> => {
      const worker = workers[at]
      if (worker !== undefined) await crew.kill(worker)
      killedAt = nowMs()
      workers[at] = await start()
    }
    await Promise.all([replace(), sleep(KILL_EVERY_MS, undefined, { signal })])
  }
  const ids = await enqueued
  const isEnded = await allEnded(mill, amounts.endMs, signal)
  const recoverySeconds = isEnded ? Number(((nowMs() - killedAt) / 1_000).toFixed(2)) : null
  await sending.settled()
  const lines = watched.stop()
  const recorded = await recordedSteps(mill, ids)
  const done = (await mill.counts()).reduce((sum, queue) => sum + queue.done, 0)
  const { sent, wrong } = sending
  const observed = { lines, recorded, sent }
  const { stepCount, acknowledgedEvents, lostEvents, eventsTwice } = stepFigures(observed)
  const ran = lines.filter(({ what }) => what === 'ran').length
  const seconds = Math.round((nowMs() - beganAt) / 1_000)
  console.log(
    [
      `${NAME} on ${store}: ${ids.length} jobs acknowledged, ${done} done, ${kills} kills`,
      `${stepCount} steps recorded by ${ran} runs`,
      `${acknowledgedEvents} of ${sent.length} events acknowledged, ${lostEvents} lost, ${eventsTwice} received twice`,
      `all done ${recoverySeconds} s after the last kill, ${seconds} s in total`,
    ].join('; '),
  )
  return {
    struck: [{ name: NAME, store, injected: kills, recoverySeconds }],
    broken: [
      ...(isEnded ? [] : [`not ended: jobs with steps are still open on ${store}.`]),
      ...(done < ids.length ? [`lost: ${ids.length - done} jobs with steps were not done on ${store}.`] : []),
      ...(wrong.length > 0 ? [`answer: ${wrong.length} events were refused: ${wrong[0]}.`] : []),
      ...(stepCount < jobs * STEPS_PER_JOB
        ? [`step lost: ${jobs * STEPS_PER_JOB - stepCount} steps are not recorded on ${store}.`]
        : []),
      ...stepsBroken(observed),
    ],
    lost: ids.length - done,
    acknowledged: ids.length,
    finished: done,
    staleWritesRefused: 0,
  }
}

/** Reads the ledgers all the time, and informs the senders when a wait begins. */
function watch(crew: Processes<StepTask>, sending: Senders) {
  const ledgers = createLedgers()
  const look = (): void => {
    for (const line of ledgers.read(crew.ledgers())) sending.seen(line)
  }
  const timer = setInterval(look, LOOK_MS)
  return {
    stop() {
      clearInterval(timer)
      look()
      ledgers.close()
      return ledgers.lines
    },
  }
}

/** Enqueues all jobs at once. They start one after another while processes are killed. Returns their ids. */
async function enqueueAll(
  mill: Mill,
  sending: Senders,
  { jobs, events, kills }: StepAmounts,
  chance: Chance,
): Promise<string[]> {
  const beganAt = nowMs()
  /** Spreads the starts over the time of the kills, however long the calls take. */
  const delay = (): number =>
    Math.max(0, Math.floor(chance.between(0, kills * KILL_EVERY_MS) - (nowMs() - beganAt)))
  const { kind, queue } = STEPS_KIND
  const payload: StepsPayload = { count: STEPS_PER_JOB }
  const calls = [
    ...Array.from(
      { length: jobs },
      () => async () => (await mill.enqueue(kind, payload, { queue, delay: delay(), maxAttempts: 20 })).id,
    ),
    ...Array.from({ length: events / WAITS_PER_JOB }, () => () => sending.enqueue(WAITS_PER_JOB, delay())),
  ]
  const ids: string[] = []
  for (let from = 0; from < calls.length; from += AT_ONCE)
    ids.push(...(await Promise.all(calls.slice(from, from + AT_ONCE).map((call) => call()))))
  return ids
}

/** The results of all steps. An event is its payload. */
async function recordedSteps(
  mill: Mill,
  ids: readonly string[],
): Promise<Map<string, ReadonlyMap<string, unknown>>> {
  const recorded = new Map<string, ReadonlyMap<string, unknown>>()
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE)
    const lists = await Promise.all(some.map((id) => mill.steps(id)))
    lists.forEach((list, n) => {
      const results = (list ?? []).map(({ name, kind, result }): [string, unknown] => [
        name,
        kind === 'event' ? (result as { readonly payload: unknown } | undefined)?.payload : result,
      ])
      recorded.set(some[n] ?? '', new Map(results))
    })
  }
  return recorded
}

async function emptyPlace({
  store,
  folder,
  closing,
}: Pick<RoundOptions, 'store' | 'folder' | 'closing'>): Promise<Place> {
  // Only processes are killed, so nothing has to survive a power cut: neither store waits for its disk.
  if (store === 'sqlite') return { store, at: path.join(folder, 'jobs.db'), isRelaxed: true }
  const server = await startPostgres({ binaries: 'current' })
  closing(() => server.stop())
  return { store, at: server.url }
}
