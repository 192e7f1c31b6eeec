/** Reads both databases completely and reports whether their contents match. */
import { JOB_STATES } from '../../job/state.ts'
import type { TransferredRest } from '../../store/admin/transfer.ts'
import type { QueueCounts } from '../../store/types/queue-record.ts'
import { countText, number } from '../output/wording.ts'
import type { Way } from './transfer-parts.ts'
import { canonical, type Digests, digestsOf, SORTS } from './digests.ts'
import type { Places } from './places.ts'
import { jobsOf, sideBySide } from './walk.ts'

export interface Verified {
  readonly source: Digests
  readonly target: Digests
  readonly counts: readonly QueueCounts[]
  /** Descriptions of the differences; empty when both match. */
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
    queues: withNames(rest.queues, as.queues),
    limits: withNames(rest.limits, as.limits),
    schedules: withNames(rest.schedules, as.schedules),
  }
}

function withNames<T extends { readonly name: string }>(items: readonly T[], as: readonly T[]): T[] {
  const names = new Set(as.map(({ name }) => name))
  return items.filter(({ name }) => names.has(name))
}

/** A queue that exists on one side only counts as empty on the other. */
function countDifferences(wanted: readonly QueueCounts[], found: readonly QueueCounts[]): string[] {
  const queues = new Set([...wanted, ...found].map(({ queue }) => queue))
  return [...queues].flatMap((queue) => {
    const [a, b] = [wanted, found].map((counts) => counts.find((one) => one.queue === queue))
    return JOB_STATES.flatMap((state) => {
      const [here, there] = [a?.[state] ?? 0, b?.[state] ?? 0]
      return here === there
        ? []
        : [
            `queue ${queue} has ${countText(here, `${state} job`)} on the source and ${number(there)} on the target`,
          ]
    })
  })
}

/** A few examples are enough to find the cause. */
const MOST_EXAMPLES = 5

async function jobDifferences({ source, target }: Places, { limit, signal }: Way): Promise<string[]> {
  const differences: string[] = []
  const pairs = sideBySide(jobsOf(source.tools, limit), jobsOf(target.tools, limit))
  for await (const { id, source: a, target: b } of pairs) {
    signal.throwIfAborted()
    if (a === undefined || b === undefined)
      differences.push(`job ${id} is missing on the ${a === undefined ? 'source' : 'target'}`)
    else if (canonical(a) !== canonical(b)) differences.push(`job ${id} differs`)
    if (differences.length === MOST_EXAMPLES) break
  }
  return differences
}
