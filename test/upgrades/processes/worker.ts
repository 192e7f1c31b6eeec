/**
 * A process of one release that enqueues and works from `begin` on. It sends `loaded`, `ready`, `outcome`
 * after each committed outcome, and `holds` for each job that it starts between `hold` and `release`. It
 * sends `quiet` when all its calls are answered after `enough`, and ends after `stop`.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FullStore } from 'jobmill'
import { nowMs } from '../../../proof/cluster/clock.ts'
import { workAt } from '../../../proof/cluster/kinds.ts'
import { ledgerWriter } from '../../../proof/cluster/ledger.ts'
import type { Sent } from '../../../proof/cluster/stream.ts'
import { inFull } from '../../support/suite/in-full.ts'
import { millWork } from './mill-work.ts'
import { loadBundle, type Place, type Release, loadCurrent } from '../releases/release.ts'
import { jobGate, type WorkerHandle, type WorkerOptions } from './working.ts'

export interface WorkerTask {
  /** The folder of its bundle; null for the current release. */
  readonly release: string | null
  readonly place: Place
  /** The first number of this process: no two jobs of all processes have the same number. */
  readonly firstN: number
  readonly ledger: string
  /** The file that gets one line for each acknowledged call. */
  readonly sent: string
}

export type WorkerMessage = 'loaded' | 'ready' | 'outcome' | 'holds' | 'quiet'
export type WorkerOrder = 'begin' | 'hold' | 'release' | 'enough' | 'stop'

/** The pause after each call: at most 100 jobs per second, and 40 in `npm test`. */
const PACE_MS = inFull(10, 25)

const task = JSON.parse(process.argv[2] ?? '{}') as WorkerTask
const say = (message: WorkerMessage): void => void process.send?.(message)

async function load(): Promise<{ readonly release: Release; readonly store: FullStore<never> }> {
  const release = task.release === null ? await loadCurrent() : await loadBundle(task.release)
  return { release, store: await release.storeAt(task.place) }
}

function begin(
  { release, store }: Awaited<ReturnType<typeof load>>,
  runJob: WorkerOptions['runJob'],
): Promise<WorkerHandle> {
  const options = { runJob, write: ledgerWriter(task.ledger).write, onOutcome: () => say('outcome') }
  return millWork(release, store, options)
}

async function send(handle: WorkerHandle, n: number): Promise<Sent> {
  const { kind, work } = workAt(n)
  const one: Sent = {
    n,
    orderKey: work.orderKey,
    sentAt: nowMs(),
    answeredAt: null,
    answer: 'open',
    id: null,
  }
  try {
    one.id = await handle.enqueue(kind, work)
    one.answer = 'acknowledged'
  } catch (error) {
    const { retryable, code } = error as { retryable?: boolean; code?: string }
    if (retryable !== true) throw error
    one.answer = code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'refused'
  }
  one.answeredAt = nowMs()
  return one
}

/** Enqueues until `isEnough`, then waits for every acknowledgement. */
async function stream(handle: WorkerHandle, isEnough: () => boolean): Promise<void> {
  const file = openSync(task.sent, 'a')
  let n = task.firstN
  while (!isEnough()) {
    n += 1
    writeSync(file, `${JSON.stringify(await send(handle, n))}\n`)
    await sleep(PACE_MS)
  }
  closeSync(file)
}

async function main(): Promise<void> {
  const { runJob, hold, releaseAll } = jobGate(() => say('holds'))
  const orders = {
    begin: Promise.withResolvers<void>(),
    hold: { resolve: hold },
    release: { resolve: releaseAll },
    enough: Promise.withResolvers<void>(),
    stop: Promise.withResolvers<void>(),
  }
  process.on('message', (order: WorkerOrder) => orders[order].resolve())
  // The parent process is gone.
  process.on('disconnect', () => process.exit())
  const loaded = await load()
  say('loaded')
  await orders.begin.promise
  const handle = await begin(loaded, runJob)
  say('ready')
  let isEnough = false
  const streaming = stream(handle, () => isEnough)
  await Promise.race([orders.enough.promise, streaming])
  isEnough = true
  await streaming
  say('quiet')
  await orders.stop.promise
  await handle.stop()
  process.disconnect()
}

main().catch((error: unknown) => {
  // Without its stack, which in a bundle contains a line of a hundred thousand characters.
  console.error(String(error))
  process.exit(1)
})
