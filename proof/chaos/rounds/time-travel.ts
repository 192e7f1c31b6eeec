/**
 * Moves the database back in time under running processes: restores a backup, or promotes a lagging standby.
 * What was acknowledged in between is lost by definition and counted separately. All other jobs must run,
 * with the handler of their kind. A synchronous standby must not move the database back at all.
 */
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { jobmill, type Mill } from 'jobmill'
import { nowMs } from '../../cluster/clock.ts'
import { allEnded } from '../../cluster/verdict/in-store.ts'
import { type Place, storeAt } from '../../cluster/places.ts'
import { type Call, calls } from '../crew/calls.ts'
import { type Crew, crew as createCrew } from '../crew/crew.ts'
import type { CrewKind } from '../crew/worker.ts'
import type { RoundOptions, RoundResult } from './round.ts'

export interface TimeMachine {
  readonly place: Place
  /** From then on, acknowledged writes may be lost. */
  readonly remember: () => Promise<void>
  /** Moves the database back. */
  readonly goBack: () => Promise<void>
}

export interface TimeTravel extends Omit<RoundOptions, 'nemeses' | 'chance' | 'rate'> {
  readonly name: string
  readonly machine: TimeMachine
  /** How the verdict counts the jobs that are gone by definition. Null if none may be gone. */
  readonly countedAs: 'unreplicated' | 'rolledBack' | null
}

const KNOWN: CrewKind = { kind: 'known', queue: 'known' }
/** Kinds that first appear after the snapshot, so that the database forgets their ids. */
const LATE: readonly CrewKind[] = [
  { kind: 'late-1', queue: 'late' },
  { kind: 'late-2', queue: 'late' },
]
/** Kinds that first appear after the restore, in other processes: they get the ids of the late ones. */
const YOUNG: readonly CrewKind[] = [
  { kind: 'young-1', queue: 'young' },
  { kind: 'young-2', queue: 'young' },
]

const PHASE_MS = 2_500
const END_MS = 40_000
const RECOVERS_WITHIN_MS = 15_000

export async function timeTravel(options: TimeTravel): Promise<RoundResult> {
  const { name, store, folder, closing, machine } = options
  mkdirSync(folder, { recursive: true })
  const crew = createCrew(folder, machine.place, '5s')
  closing(crew.destroy)
  const mill = await opened(machine.place, closing)
  await Promise.all([crew.start([KNOWN]), crew.start([KNOWN])])
  console.log(`\n${name} on ${store}`)
  const sent = calls()
  const over = new AbortController()
  let kinds: readonly CrewKind[] = [KNOWN]
  const streaming = sent.stream(mill, () => kinds, over.signal)
  await sleep(PHASE_MS)
  const rememberedAt = nowMs()
  await machine.remember()
  const late = await crew.start([KNOWN, ...LATE])
  kinds = [KNOWN, ...LATE]
  await sleep(PHASE_MS)
  kinds = [KNOWN]
  await machine.goBack()
  const backAt = nowMs()
  const other = await opened(machine.place, closing)
  // A worker of a new release replaces it and knows no earlier ids. The enqueuing process does.
  await Promise.all([crew.retire(late), crew.start([KNOWN, ...YOUNG])])
  for (const kind of YOUNG) await acknowledged(() => sent.send(other, kind))
  kinds = [KNOWN, ...LATE, ...YOUNG]
  await sleep(PHASE_MS / 2)
  await crew.start([KNOWN, ...LATE])
  await sleep(PHASE_MS)
  over.abort()
  await streaming
  const isEnded = await allEnded(other, END_MS, options.signal)
  return judged({
    ...options,
    crew,
    mill: other,
    sent: sent.all,
    wrong: sent.wrong,
    rememberedAt,
    backAt,
    isEnded,
  })
}

async function opened(place: Place, closing: RoundOptions['closing']): Promise<Mill> {
  const mill = jobmill({ store: await storeAt(place), log: 'silent' })
  closing(() => mill.stop())
  await mill.open()
  return mill
}

/** Retries through transient errors. */
async function acknowledged(send: () => Promise<Call>): Promise<void> {
  const deadline = nowMs() + RECOVERS_WITHIN_MS
  while ((await send()).answer !== 'acknowledged' && nowMs() < deadline) await sleep(100)
}

interface Travelled extends TimeTravel {
  readonly crew: Crew
  readonly mill: Mill
  readonly sent: readonly Call[]
  readonly wrong: readonly string[]
  readonly rememberedAt: number
  readonly backAt: number
  readonly isEnded: boolean
}

async function judged(travelled: Travelled): Promise<RoundResult> {
  const { name, store, crew, mill, sent, wrong, rememberedAt, backAt, isEnded, countedAs } = travelled
  const lines = crew.lines()
  const acknowledgedCalls = sent.filter(({ answer }) => answer === 'acknowledged')
  const inStore = await statesOf(mill, acknowledgedCalls)
  const returned = new Map(
    lines
      .filter((line) => line.what === 'returned' && line.kind === line.ranAs)
      .map((line) => [line.n, line.at]),
  )
  const after = acknowledgedCalls.filter(({ sentAt }) => sentAt >= backAt)
  const isThere = (call: Call): boolean => returned.has(call.n) && inStore.get(call.n) === 'done'
  const someLost = [
    ...acknowledgedCalls.filter((call) => (call.answeredAt ?? 0) < rememberedAt && !returned.has(call.n)),
    ...after.filter((call) => !isThere(call)),
  ]
  const lost = countedAs === null ? acknowledgedCalls.filter((call) => !isThere(call)) : someLost
  const between = acknowledgedCalls.filter(
    (call) => (call.answeredAt ?? 0) >= rememberedAt && call.sentAt < backAt,
  )
  const gone = between.filter((call) => inStore.get(call.n) === undefined).length
  const misrun = lines.filter((line) => line.what === 'start' && line.kind !== line.ranAs)
  const first = Math.min(...after.map(({ n }) => returned.get(n) ?? Number.POSITIVE_INFINITY))
  const recoverySeconds = Number.isFinite(first) ? Number(((first - backAt) / 1_000).toFixed(2)) : null
  const dead = (await mill.counts()).reduce((sum, counts) => sum + counts.dead, 0)
  const sentences: [boolean, string][] = [
    [!isEnded, `not ended: jobs are still open ${END_MS / 1_000} s after ${name} on ${store}`],
    [
      lost.length > 0,
      `lost: ${lost.length} jobs acknowledged before or after ${name} on ${store} are missing or never ran`,
    ],
    [
      misrun.length > 0,
      `wrong handler: ${misrun.length} runs after ${name} on ${store}; a ${misrun[0]?.kind} ran as ${misrun[0]?.ranAs}`,
    ],
    [dead > 0, `dead: ${dead} jobs after ${name} on ${store}`],
    [
      wrong.length > 0,
      `answer: ${wrong.length} calls during ${name} on ${store} were rejected as invalid: ${wrong[0]}`,
    ],
    [
      recoverySeconds === null || recoverySeconds * 1_000 > RECOVERS_WITHIN_MS,
      `recovery: ${name} on ${store} took ${recoverySeconds === null ? 'too long' : `${recoverySeconds} s`}; the limit is ${RECOVERS_WITHIN_MS / 1_000} s`,
    ],
    countedAs === null
      ? [between.length === 0, `nothing shown: no job was acknowledged before ${name} on ${store}`]
      : [gone === 0, `nothing shown: ${name} on ${store} took nothing back`],
  ]
  const broken = sentences.flatMap(([isBroken, sentence]) => (isBroken ? [`${sentence}.`] : []))
  console.log(
    `${name}: ${countedAs === null ? `${between.length} jobs acknowledged just before it` : `${gone} jobs gone by definition`}, first new job after ${recoverySeconds} s, ${lost.length} lost, ${misrun.length} by the wrong handler`,
  )
  return {
    struck: [{ name, store, injected: 1, recoverySeconds }],
    broken,
    lost: lost.length,
    ...(countedAs !== null && { [countedAs]: gone }),
    acknowledged: acknowledgedCalls.length,
    finished: [...inStore.values()].filter((state) => state === 'done').length,
    staleWritesRefused: 0,
  }
}

/** Keyed by the number of the call. Missing jobs are omitted. */
async function statesOf(mill: Mill, sentCalls: readonly Call[]): Promise<Map<number, string>> {
  const states = new Map<number, string>()
  for (const { n, id } of sentCalls) {
    const job = await mill.get(id ?? '')
    if (job !== null && (job.payload as { readonly n: number }).n === n) states.set(n, job.state)
  }
  return states
}
