/** The proof from start to verdict: start, inject faults, wait, compare. */
import { setTimeout as sleep } from 'node:timers/promises'
import { jobmill, type Mill } from 'jobmill'
import { nowMs } from './clock.ts'
import { allEnded, countedDone, everythingIn } from './verdict/in-store.ts'
import { judge } from './verdict/judge.ts'
import type { Lie } from './lies.ts'
import type { Options } from './options.ts'
import { type Database, type Outage, postgresServer, sqliteFile, storeAt } from './places.ts'
import { type Progress, progress } from './progress.ts'
import { report } from './verdict/report.ts'
import { type Sent, stream } from './stream.ts'
import { type Workers, workers as createWorkers } from './workers.ts'

export interface Proof {
  readonly options: Options
  readonly lies: readonly Lie[]
  /** The folder for all files. */
  readonly folder: string
  /** Fires when the proof is aborted. */
  readonly signal: AbortSignal
  /** Registers resources to close at the end. */
  readonly closing: (close: () => Promise<unknown>) => void
}

/** The minimum time that the stream continues after the faults. */
const AFTERWARDS_MS = 1_000

/**
 * The minimum time to wait for a running job, because a third of a short proof is too little on a busy
 * machine.
 */
const LEAST_PATIENCE_MS = 20_000

/** How long everything may take to end after the last enqueue. */
const END_MS = 60_000

/** Resolves to the exit code. */
export async function prove(proof: Proof): Promise<number> {
  const { options, lies, folder, closing } = proof
  const database = options.store === 'postgres' ? await postgresServer() : sqliteFile(folder)
  closing(database.close)
  const workers = createWorkers({ folder, place: database.place })
  closing(workers.destroy)
  const mill = jobmill({ store: await storeAt(database.place), log: 'silent' })
  closing(() => mill.stop())
  await mill.open()
  const { seconds, rate } = options
  console.log(`cluster   ${database.name}, 3 workers, ${rate} jobs a second for ${seconds} s`)
  await Promise.all([
    workers.start(onlyOf(lies, 'forget-run', 'run-twice')),
    workers.start(),
    workers.start(),
  ])

  const beganAt = nowMs()
  const progressLog = progress(process.stdout, () => nowMs() - beganAt)
  closing(() => Promise.resolve(progressLog.end()))
  const scene = { ...proof, database, workers, mill, progressLog, beganAt }
  const { sent, ...happened } = await act(scene)
  progressLog.end()
  const stopped = await workers.stop()
  if (lies.includes('drop-job')) await mill.delete(sent.findLast(({ id }) => id !== null)?.id ?? '')
  const verdict = judge({
    sent,
    stored: await everythingIn(mill),
    countedDone: await countedDone(mill),
    runs: workers.all.flatMap(({ ledger }) => ledger.runs),
    deaths: workers.all.flatMap(({ number: worker, diedAt: at }) => (at === null ? [] : [{ worker, at }])),
    losses: workers.all.flatMap(({ number: worker, ledger }) => ledger.lostAt.map((at) => ({ worker, at }))),
    stillnesses: [],
    outages: [happened.outage],
    broken: [...happened.broken, ...stopped.broken],
  })
  console.log(report(verdict, stopped.events))
  return verdict.broken.length === 0 ? 0 : 1
}

interface Scene extends Proof {
  readonly database: Database
  readonly workers: Workers
  readonly mill: Mill
  readonly progressLog: Progress
  readonly beganAt: number
}

interface Happened {
  readonly outage: Outage
  readonly broken: readonly string[]
}

/** Runs the stream and the faults in parallel until everything has ended. */
async function act(scene: Scene): Promise<Happened & { readonly sent: readonly Sent[] }> {
  const { mill, options, lies, signal, workers, progressLog } = scene
  const jobs = stream({ mill, ...options, lies })
  progressLog.begin(() => glance(jobs.sent, workers))
  // The stream outlasts the faults on any machine, so that recovery is visible.
  let overAt = Number.POSITIVE_INFINITY
  const troubled = trouble(scene).finally(() => (overAt = nowMs()))
  const streaming = jobs.run(signal, () => nowMs() > overAt + AFTERWARDS_MS)
  const [happened] = await Promise.all([troubled, streaming])
  const inTime = await allEnded(mill, END_MS, signal)
  progressLog.say(
    inTime ? 'everything has ended' : `not everything has ended ${END_MS / 1_000} s after the stream`,
  )
  return { sent: jobs.sent, ...happened }
}

/**
 * After a third of the time, a process is killed and replaced; after two thirds, the database is disturbed.
 */
async function trouble(scene: Scene): Promise<Happened> {
  const { database, workers, progressLog, signal, lies, options, beganAt } = scene
  const at = (part: number): Promise<void> =>
    sleep(Math.max(0, beganAt + options.seconds * 1_000 * part - nowMs()), undefined, { signal })
  const broken: string[] = []
  await at(1 / 3)
  const patienceMs = Math.max(LEAST_PATIENCE_MS, Math.round((options.seconds * 1_000) / 3))
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
  const killed = await workers.killBusiest(inTime)
  if (killed === null) {
    broken.push('nothing was killed: no worker ran a job at that time. Try a higher --rate.')
  } else {
    const ran = killed.ledger.open().length
    progressLog.say(
      `kill -9 of worker ${killed.number} (process ${killed.pid}), which ran ${ran === 1 ? '1 job' : `${ran} jobs`}`,
    )
    const { number } = await workers.start(onlyOf(lies, 'silent-end'))
    progressLog.say(`worker ${number} takes its place`)
  }
  await at(2 / 3)
  const outage = await database.trouble(() => progressLog.say(database.begins))
  progressLog.say(database.ends)
  return { outage, broken }
}

function onlyOf(lies: readonly Lie[], ...some: readonly Lie[]): Lie[] {
  return lies.filter((lie) => some.includes(lie))
}

/** From the records of the processes, because the database may be unreachable. */
function glance(sent: readonly Sent[], workers: Workers): string {
  for (const { ledger } of workers.all) ledger.read()
  const runs = workers.all.flatMap(({ ledger }) => ledger.runs)
  const done = runs.filter(({ how, reportedAt }) => how === 'returned' && reportedAt !== null).length
  const acknowledged = sent.filter(({ answer }) => answer === 'acknowledged').length
  const open = workers.all.filter(({ diedAt }) => diedAt === null).flatMap(({ ledger }) => ledger.open())
  return `enqueued ${acknowledged}, done ${done}, running ${open.length}`
}
