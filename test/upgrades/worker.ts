/**
 * A process of one release that enqueues and works from `begin` on, until it is told otherwise. It says `loaded`, `ready`, `told` after each outcome that was committed, `holds` for
 * each job that it begins between `hold` and `let go`, `quiet` when it has answers to all its calls after `enough`, and ends after `stop`.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from 'jobmill'
import { nowMs } from '../../proof/cluster/clock.ts'
import { workAt } from '../../proof/cluster/kinds.ts'
import { ledgerWriter } from '../../proof/cluster/ledger.ts'
import type { Sent } from '../../proof/cluster/stream.ts'
import { millWork } from './mill-work.ts'
import { bundled, type Place, type Release, today } from './release.ts'
import { hands, type Working, type WorkingOptions } from './working.ts'

export interface WorkerTask {
  /** The folder of its bundle; null for today's. */
  readonly release: string | null
  readonly place: Place
  /** Of this process: no two jobs of all processes have the same. */
  readonly firstN: number
  readonly ledger: string
  /** One line for each answered call. */
  readonly sent: string
}

export type WorkerMessage = 'loaded' | 'ready' | 'told' | 'holds' | 'quiet'
export type WorkerOrder = 'begin' | 'hold' | 'let go' | 'enough' | 'stop'

/** The pause after each call: at most 100 jobs a second. */
const PACE_MS = 10

const task = JSON.parse(process.argv[2] ?? '{}') as WorkerTask
const say = (message: WorkerMessage): void => void process.send?.(message)

async function load(): Promise<{ readonly release: Release; readonly store: Store<never> }> {
  const release = task.release === null ? await today() : await bundled(task.release)
  return { release, store: await release.storeAt(task.place) }
}

function begin(
  { release, store }: Awaited<ReturnType<typeof load>>,
  worked: WorkingOptions['worked'],
): Promise<Working> {
  const options = { worked, write: ledgerWriter(task.ledger).write, told: () => say('told') }
  return millWork(release, store, options)
}

async function send(working: Working, n: number): Promise<Sent> {
  const { kind, work } = workAt(n)
  const one: Sent = { n, line: work.line, sentAt: nowMs(), answeredAt: null, answer: 'open', id: null }
  try {
    one.id = await working.enqueue(kind, work)
    one.answer = 'acknowledged'
  } catch (error) {
    const { retryable, code } = error as { retryable?: boolean; code?: string }
    if (retryable !== true) throw error
    one.answer = code === 'OUTCOME_UNKNOWN' ? 'unknown' : 'refused'
  }
  one.answeredAt = nowMs()
  return one
}

/** Sends until `isEnough`, and has every answer then. */
async function stream(working: Working, isEnough: () => boolean): Promise<void> {
  const file = openSync(task.sent, 'a')
  let n = task.firstN
  while (!isEnough()) {
    n += 1
    writeSync(file, `${JSON.stringify(await send(working, n))}\n`)
    await sleep(PACE_MS)
  }
  closeSync(file)
}

async function main(): Promise<void> {
  const { worked, hold, letGo } = hands(() => say('holds'))
  const orders = {
    begin: Promise.withResolvers<void>(),
    hold: { resolve: hold },
    'let go': { resolve: letGo },
    enough: Promise.withResolvers<void>(),
    stop: Promise.withResolvers<void>(),
  }
  process.on('message', (order: WorkerOrder) => orders[order].resolve())
  // Nobody is left to tell anything to: the process that started this one is gone.
  process.on('disconnect', () => process.exit())
  const loaded = await load()
  say('loaded')
  await orders.begin.promise
  const working = await begin(loaded, worked)
  say('ready')
  let isEnough = false
  const streaming = stream(working, () => isEnough)
  await Promise.race([orders.enough.promise, streaming])
  isEnough = true
  await streaming
  say('quiet')
  await orders.stop.promise
  await working.stop()
  process.disconnect()
}

main().catch((error: unknown) => {
  // Without its stack: of a bundle that shows a line of a hundred thousand characters.
  console.error(String(error))
  process.exit(1)
})
