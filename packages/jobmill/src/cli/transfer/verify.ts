/** Reads both databases back, from end to end, and says whether they have the same. */
import { JOB_STATES } from '../../job/state.ts'
import type { TransferredRest } from '../../store/transfer.ts'
import type { QueueCounts } from '../../store/queue-record.ts'
import { counted, number } from '../wording.ts'
import type { Way } from './transfer-parts.ts'
import { canonical } from './digest.ts'
import { type Digests, digestsOf, SORTS } from './digests.ts'
import type { Places } from './places.ts'
import { jobsOf, sideBySide } from './walk.ts'

export interface Verified {
  readonly source: Digests
  readonly target: Digests
  readonly counts: readonly QueueCounts[]
  /** What is not the same, in words; empty when all is well. */
  readonly differences: readonly string[]
}

export async function verify({ source, target }: Places, way: Way): Promise<Verified> {
  const [wanted, found] = await Promise.all([source.tools.exportRest(), target.tools.exportRest()])
  const [ofSource, ofTarget] = await Promise.all([
    digestsOf(source.tools, wanted, way),
    digestsOf(target.tools, sameNames(found, wanted), way),
  ])
  const [counts, there] = await Promise.all([source.counts(), target.counts()])
  const differing = SORTS.filter((sort) => ofSource[sort].checksum !== ofTarget[sort].checksum)
  const isBehind = found.lastToken < wanted.lastToken || found.lastPlace < wanted.lastPlace
  const differences = [
    ...countDifferences(counts, there),
    ...differing.map((sort) => `the checksums of the ${sort} differ`),
    ...(isBehind ? ['the counters of the target are behind those of the source'] : []),
    ...(differing.includes('jobs') ? await jobDifferences({ source, target }, way) : []),
  ]
  return { source: ofSource, target: ofTarget, counts, differences }
}

function sameNames(rest: TransferredRest, as: TransferredRest): TransferredRest {
  return {
    ...rest,
    queues: named(rest.queues, as.queues),
    limits: named(rest.limits, as.limits),
    schedules: named(rest.schedules, as.schedules),
  }
}

function named<T extends { readonly name: string }>(items: readonly T[], as: readonly T[]): T[] {
  const names = new Set(as.map(({ name }) => name))
  return items.filter(({ name }) => names.has(name))
}

/** A queue that one of them does not have counts as empty. */
function countDifferences(wanted: readonly QueueCounts[], found: readonly QueueCounts[]): string[] {
  const queues = new Set([...wanted, ...found].map(({ queue }) => queue))
  return [...queues].flatMap((queue) => {
    const [a, b] = [wanted, found].map((counts) => counts.find((one) => one.queue === queue))
    return JOB_STATES.flatMap((state) => {
      const [here, there] = [a?.[state] ?? 0, b?.[state] ?? 0]
      return here === there
        ? []
        : [
            `queue ${queue} has ${counted(here, `${state} job`)} at the source and ${number(there)} at the target`,
          ]
    })
  })
}

/** The first few are enough to see what happened. */
const MOST_TOLD = 5

async function jobDifferences({ source, target }: Places, { limit, signal }: Way): Promise<string[]> {
  const told: string[] = []
  const pairs = sideBySide(jobsOf(source.tools, limit), jobsOf(target.tools, limit))
  for await (const { id, source: a, target: b } of pairs) {
    signal.throwIfAborted()
    if (a === undefined || b === undefined)
      told.push(`job ${id} is missing at the ${a === undefined ? 'source' : 'target'}`)
    else if (canonical(a) !== canonical(b)) told.push(`job ${id} is not the same at both`)
    if (told.length === MOST_TOLD) break
  }
  return told
}
