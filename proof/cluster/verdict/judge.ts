/**
 * Compares acknowledgements, store contents and handler records. Pure: from facts to metrics, and a sentence
 * for each violated guarantee.
 */
import type { JobState } from 'jobmill'
import type { Run } from '../ledger.ts'
import { jobsOutOfOrder } from './order-keys.ts'
import { afterDeaths, afterOutage, waits } from './recovery.ts'
import { type Repeat, repeats, type Trouble } from './repeats.ts'
import type { Answer, Sent } from '../stream.ts'

/** A job in the store. */
export interface Stored {
  readonly state: JobState
  /** Its number in the stream. */
  readonly n: number
}

export interface Facts extends Trouble {
  readonly sent: readonly Sent[]
  readonly stored: ReadonlyMap<string, Stored>
  /** The done jobs by the store's counters. */
  readonly countedDone: number
  readonly runs: readonly Run[]
  /** Other problems, in sentences. */
  readonly broken: readonly string[]
}

export interface Figures {
  readonly sent: number
  readonly answers: Readonly<Record<Answer, number>>
  /** How many calls with an unknown answer had written their job. */
  readonly unknownWritten: number
  readonly done: number
  readonly dead: number
  readonly lost: number
  readonly runs: number
  /** Why jobs ran more than once. */
  readonly repeats: Readonly<Record<Repeat['why'], number>>
  readonly twice: number
  readonly withOrderKey: number
  readonly outOfOrder: number
  /** From sent to started, shortest first. */
  readonly waits: readonly number[]
  /** For each job of a killed process: the time until it ran again. */
  readonly afterDeaths: readonly (number | null)[]
  /** For each outage: the time until the next finished job. */
  readonly afterOutages: readonly (number | null)[]
}

export interface Verdict {
  readonly figures: Figures
  readonly broken: readonly string[]
}

/** The limit of P4 with the default lease. */
export const RECOVERY_LIMIT_MS = 15_000

interface JudgeOptions {
  /** How soon work must continue after a death or an outage. */
  readonly recoveryLimitMs?: number
}

export function judge(facts: Facts, { recoveryLimitMs = RECOVERY_LIMIT_MS }: JudgeOptions = {}): Verdict {
  const problems = findProblems(facts)
  const figures = figuresOf(facts, problems)
  return {
    figures,
    broken: [
      ...sentences(problems),
      ...late(figures, recoveryLimitMs),
      ...counts(facts, figures),
      ...facts.broken,
    ],
  }
}

/** The ids of affected jobs, by problem. */
type Problems = ReturnType<typeof findProblems>

function findProblems({ sent, stored, runs, ...trouble }: Facts) {
  const ran = new Set(runs.flatMap(({ id, how }) => (how === 'returned' ? [id] : [])))
  const ids = (isIt: (job: Stored, id: string) => boolean): string[] =>
    [...stored].flatMap(([id, job]) => (isIt(job, id) ? [id] : []))
  const again = repeats(runs, trouble)
  const refused = new Set(sent.flatMap(({ n, answer }) => (answer === 'refused' ? [n] : [])))
  return {
    missing: sent.flatMap(({ id }) => (id !== null && !stored.has(id) ? [id] : [])),
    unseen: ids(({ state }, id) => state === 'done' && !ran.has(id)),
    waiting: ids(({ state }) => state === 'scheduled' || state === 'ready' || state === 'running'),
    dead: ids(({ state }) => state === 'dead' || state === 'cancelled'),
    again,
    twice: [...new Set(again.flatMap(({ why, first }) => (why === 'no reason' ? [first.id] : [])))],
    early: [...jobsOutOfOrder(sent, runs, trouble.deaths)],
    copies: [...Map.groupBy(stored, ([, { n }]) => n).values()].flatMap((same) =>
      same.slice(1).map(([id]) => id),
    ),
    unasked: ids(({ n }) => refused.has(n)),
  }
}

function figuresOf({ sent, stored, runs, deaths, outages }: Facts, problems: Problems): Figures {
  const answered = (is: Answer): Sent[] => sent.filter(({ answer }) => answer === is)
  const repeated = (is: Repeat['why']): number => problems.again.filter(({ why }) => why === is).length
  const written = new Set([...stored.values()].map(({ n }) => n))
  return {
    sent: sent.length,
    answers: {
      acknowledged: answered('acknowledged').length,
      refused: answered('refused').length,
      unknown: answered('unknown').length,
      open: answered('open').length,
    },
    unknownWritten: answered('unknown').filter(({ n }) => written.has(n)).length,
    done: [...stored.values()].filter(({ state }) => state === 'done').length,
    dead: problems.dead.length,
    lost: problems.missing.length + problems.unseen.length,
    runs: runs.length,
    repeats: {
      planned: repeated('planned'),
      'process died': repeated('process died'),
      'lease lost': repeated('lease lost'),
      'stood still': repeated('stood still'),
      'no reason': repeated('no reason'),
    },
    twice: problems.twice.length,
    withOrderKey: answered('acknowledged').filter(({ orderKey }) => orderKey !== null).length,
    outOfOrder: problems.early.length,
    waits: waits(sent, runs),
    afterDeaths: afterDeaths(runs, deaths),
    afterOutages: outages.map((outage) => afterOutage(outage, runs)),
  }
}

/** Describes both runs of the first job, in milliseconds after the start of the first run. */
function repeatsOf(again: readonly Repeat[]): string {
  const repeat = again.find(({ why }) => why === 'no reason')
  if (repeat === undefined) return ''
  const { first, next } = repeat
  const after = (at: number | null): string =>
    at === null ? 'never' : `${Math.round(at - first.startedAt)} ms`
  const runText = (run: Run): string =>
    `worker ${run.worker} with token ${run.token} (started ${after(run.startedAt)}, ended ${after(run.endedAt)}, ${run.how ?? 'cut off'}, reported ${after(run.reportedAt)})`
  return `${runText(first)}, then ${runText(next)}.`
}

function sentences({
  missing,
  unseen,
  waiting,
  dead,
  again,
  twice,
  early,
  copies,
  unasked,
}: Problems): string[] {
  return [
    ...describeJobs(missing, 'lost', 'acknowledged and not in the store'),
    ...describeJobs(unseen, 'lost', 'done according to the store, and never run to the end by a handler'),
    ...describeJobs(waiting, 'not ended', 'still waiting or running'),
    ...describeJobs(dead, 'dead', 'dead or cancelled, although no handler fails permanently'),
    ...describeJobs(twice, 'run twice', 'run again although the process lived and kept its lease').map(
      (sentence) => `${sentence} The first: ${repeatsOf(again)}`,
    ),
    ...describeJobs(early, 'order broken', 'run before an earlier job of the order queue had ended'),
    ...describeJobs(copies, 'enqueued twice', 'in the store a second time for one call'),
    ...describeJobs(
      unasked,
      'written all the same',
      'in the store, although the answer said that nothing was written',
    ),
  ]
}

/** Formats `lost: 2 jobs, acknowledged and not in the store (0190…, 0190…).` */
function describeJobs(ids: readonly string[], rule: string, what: string): string[] {
  if (ids.length === 0) return []
  const firstIds = `${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ', …' : ''}`
  return [`${rule}: ${ids.length === 1 ? '1 job' : `${ids.length} jobs`}, ${what} (${firstIds}).`]
}

function late(figures: Figures, limitMs: number): string[] {
  const slowest = figures.afterDeaths.reduce((a, b) => (a === null || b === null ? null : Math.max(a, b)), 0)
  return [
    ...tooLate('a job of a killed process', slowest, limitMs),
    ...figures.afterOutages.flatMap((ms) => tooLate('work after the outage', ms, limitMs)),
  ]
}

function tooLate(what: string, ms: number | null, limitMs: number): string[] {
  if (ms === null) return [`recovery: ${what} never resumed.`]
  if (ms <= limitMs) return []
  const [took, promised] = [ms, limitMs].map((time) => (time / 1_000).toFixed(1))
  return [`recovery: ${what} resumed after ${took} s; the limit is ${promised} s.`]
}

function counts({ countedDone }: Facts, { done }: Figures): string[] {
  return countedDone === done ? [] : [`counts: the store counts ${countedDone} done jobs, and has ${done}.`]
}
