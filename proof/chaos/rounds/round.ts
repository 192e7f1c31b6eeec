/**
 * One round on one store: processes under a steady stream of jobs, one nemesis after the other, and the
 * verdict.
 */
import { mkdirSync } from 'node:fs'
import { jobmill, type Mill } from 'jobmill'
import { nowMs } from '../../cluster/clock.ts'
import { allEnded, countedDone, everythingIn } from '../../cluster/verdict/in-store.ts'
import { judge } from '../../cluster/verdict/judge.ts'
import { BEATS } from '../../cluster/kinds.ts'
import { type Outage, storeAt } from '../../cluster/places.ts'
import { type Progress, progress } from '../../cluster/progress.ts'
import type { Stillness } from '../../cluster/verdict/repeats.ts'
import { type Sent, stream } from '../../cluster/stream.ts'
import { type Workers, workers as createWorkers } from '../../cluster/workers.ts'
import { checkHistory } from '../../history/check.ts'
import type { Chance } from '../../simulate/chance.ts'
import { clockFile } from '../clock-file.ts'
import { caughtUp, unplanned } from '../beats.ts'
import { historyOf } from '../history.ts'
import { fileOnDisk, serverWithStandby } from '../places.ts'
import type { Nemesis, Scene, StoreName } from '../scene.ts'
import { type Watch, watch } from '../watch.ts'

export interface RoundOptions {
  readonly store: StoreName
  readonly nemeses: readonly Nemesis[]
  readonly folder: string
  readonly chance: Chance
  /** Jobs a second. */
  readonly rate: number
  readonly signal: AbortSignal
  readonly closing: (close: () => Promise<unknown>) => void
}

/** What one nemesis did, and its recovery time; null if it never recovered. */
export interface Struck {
  readonly name: string
  readonly store: StoreName
  readonly injected: number
  readonly recoverySeconds: number | null
  readonly why?: string
}

export interface RoundResult {
  readonly struck: readonly Struck[]
  /** A sentence for each violated guarantee. */
  readonly broken: readonly string[]
  readonly lost: number
  /**
   * Acknowledged but lost by definition: not replicated to an asynchronous standby before its promotion, or
   * newer than a restored backup.
   */
  readonly unreplicated?: number
  readonly rolledBack?: number
  readonly acknowledged: number
  readonly finished: number
  readonly staleWritesRefused: number
}

const WORKERS = 3
const END_MS = 60_000
/** When waiting for recovery ends. */
const GIVEN_UP_MS = 60_000
/** A minimum, because a few open jobs more or less are noise. */
const LEAST_LEVEL = 20

export async function round(options: RoundOptions): Promise<RoundResult> {
  const { store, folder, closing } = options
  mkdirSync(folder)
  const stage = store === 'postgres' ? await serverWithStandby(folder, closing) : fileOnDisk(folder, closing)
  const clock = clockFile(folder)
  const workers = createWorkers({ folder, place: stage.place, beats: true, env: clock?.env ?? {} })
  closing(workers.destroy)
  const mill = jobmill({ store: await storeAt(stage.place), log: 'silent' })
  closing(() => mill.stop())
  await mill.open()
  await Promise.all(Array.from({ length: WORKERS }, () => workers.start()))
  const beganAt = nowMs()
  const progressLog = progress(process.stdout, () => nowMs() - beganAt)
  console.log(`\n${stage.name}, ${WORKERS} workers, ${options.rate} jobs a second`)
  const wrong: string[] = []
  const jobs = stream({
    mill,
    seconds: 1,
    rate: options.rate,
    lies: [],
    wrong: (error) => wrong.push(String(error)),
  })
  const trouble = { outages: [], stillnesses: [] }
  const scene: Scene = {
    ...options,
    ...stage,
    ...trouble,
    workers,
    mill,
    sent: jobs.sent,
    progressLog,
    clock,
  }
  return played({ options, scene, workers, mill, jobs, wrong, progressLog })
}

interface Play {
  readonly options: RoundOptions
  readonly scene: Scene
  readonly workers: Workers
  readonly mill: Mill
  readonly jobs: ReturnType<typeof stream>
  /** Errors that blame a caller that did nothing wrong. */
  readonly wrong: readonly string[]
  readonly progressLog: Progress
}

async function played({
  options,
  scene,
  workers,
  mill,
  jobs,
  wrong,
  progressLog,
}: Play): Promise<RoundResult> {
  const { signal, nemeses, store } = options
  const watching = watch({ sent: jobs.sent, workers, mill, signal })
  let isOver = false
  const streaming = jobs.run(signal, () => isOver)
  // Awaited below.
  streaming.catch(() => {})
  const struck: Struck[] = []
  const late: string[] = []
  for (const nemesis of nemeses) {
    const one = await struckBy(nemesis, scene, watching)
    struck.push({ store, ...one.struck })
    late.push(...one.late)
  }
  isOver = true
  await streaming
  await allEnded(mill, END_MS, signal)
  const plannedUntil = await caughtUp(mill, signal)
  await mill.schedules.pause(BEATS)
  const isEnded = await allEnded(mill, END_MS, signal)
  progressLog.say(isEnded ? 'everything has ended' : 'not everything has ended')
  const stopped = await workers.stop()
  const broken = [...late, ...stopped.broken]
  if (wrong.length > 0) broken.push(`answer: ${wrong.length} calls were rejected as invalid: ${wrong[0]}.`)
  if (!isEnded)
    broken.push(`not ended: jobs are still open ${END_MS / 1_000} s after the last job was enqueued.`)
  return judged({ ...scene, struck, broken, plannedUntil })
}

async function struckBy(
  nemesis: Nemesis,
  scene: Scene,
  watching: Watch,
): Promise<{ readonly struck: Omit<Struck, 'store'>; readonly late: readonly string[] }> {
  const { name, recoversWithinMs } = nemesis
  const level = Math.max(LEAST_LEVEL, (await watching.level()) * 2)
  const { injected, overAt, afterwards, why } = await nemesis.strike(scene)
  const ms = await watching.recovered(overAt, level, GIVEN_UP_MS)
  await afterwards?.()
  const duration = ms === null ? 'never' : `${(ms / 1_000).toFixed(1)} s`
  scene.progressLog.say(why === undefined ? `${name}: recovered after ${duration}` : `${name}: ${why}`)
  const isLate = ms === null || ms > recoversWithinMs
  const isMissed = injected === 0 && why === undefined
  return {
    struck: {
      name,
      injected,
      recoverySeconds: ms === null ? null : Number((ms / 1_000).toFixed(2)),
      ...(why !== undefined && { why }),
    },
    late: [
      ...(isLate
        ? [
            `recovery: ${name} on ${scene.store} took ${duration}; the limit is ${recoversWithinMs / 1_000} s.`,
          ]
        : []),
      ...(isMissed ? [`nothing shown: ${name} did not strike on ${scene.store}.`] : []),
    ],
  }
}

interface Played {
  readonly mill: Mill
  readonly workers: Workers
  readonly sent: readonly Sent[]
  readonly outages: readonly Outage[]
  readonly stillnesses: readonly Stillness[]
  readonly struck: readonly Struck[]
  readonly broken: readonly string[]
  /** Until when ticks are due, by the store clock. */
  readonly plannedUntil: number
}

export async function judged(played: Played): Promise<RoundResult> {
  const { mill, workers, sent, outages, stillnesses, struck, broken } = played
  const runs = workers.all.flatMap(({ ledger }) => ledger.runs)
  const stored = await everythingIn(mill)
  const verdict = judge({
    sent,
    stored,
    countedDone: await countedDone(mill),
    runs,
    deaths: workers.all.flatMap(({ number: worker, diedAt: at }) => (at === null ? [] : [{ worker, at }])),
    losses: workers.all.flatMap(({ number: worker, ledger }) => ledger.lostAt.map((at) => ({ worker, at }))),
    stillnesses,
    outages,
    broken,
  })
  const offsetMs = Date.now() - nowMs()
  const { plannedUntil } = played
  const history = await historyOf({ mill, sent, runs, stored, stillnesses, offsetMs, plannedUntil })
  const violations = checkHistory(history)
  return {
    struck,
    broken: [
      ...verdict.broken,
      ...(await unplanned(mill)),
      ...violations.map(({ rule, message }) => `${rule}: ${message}`),
    ],
    lost: verdict.figures.lost,
    acknowledged: verdict.figures.answers.acknowledged,
    finished: verdict.figures.done,
    staleWritesRefused: workers.all.reduce((sum, { ledger }) => sum + ledger.refused(), 0),
  }
}
