/**
 * Reads both databases completely and reports whether their contents match: by the checksums of their jobs,
 * held dedupe keys, ticks, and named settings.
 */
import { createHash } from 'node:crypto'
import { JOB_STATES } from '../../job/state.ts'
import type { Part, Transfer, TransferredRest } from '../../store/admin/transfer.ts'
import type { QueueCounts } from '../../store/types/queue-record.ts'
import { countText, number } from '../output/wording.ts'
import type { Places } from './places.ts'
import type { Way } from './transfer-parts.ts'
import { jobsOf, pagesOf, sideBySide } from './walk.ts'

export type Verified = Awaited<ReturnType<typeof verify>>

export async function verify({ source, target }: Places, way: Way) {
  const [wanted, found] = await Promise.all([source.tools.exportRest(), target.tools.exportRest()])
  const [ofSource, ofTarget] = await Promise.all([
    digestsOf(source.tools, wanted, way),
    digestsOf(target.tools, sameNames(found, wanted), way),
  ])
  const [counts, there] = await Promise.all([source.counts(), target.counts()])
  const differing = SORTS.filter((sort) => ofSource[sort].checksum !== ofTarget[sort].checksum)
  const isBehind = found.lastToken < wanted.lastToken || found.lastPlace < wanted.lastPlace
  /** Empty when both match. */
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
    alerts: withNames(rest.alerts, as.alerts),
    views: withNames(rest.views, as.views),
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
      const many = `${countText(here, `${state} job`)} on the source and ${number(there)} on the target`
      return here === there ? [] : [`queue ${queue} has ${many}`]
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

export const SORTS = ['jobs', 'keys', 'ticks', 'settings'] as const

type Digests = Readonly<Record<(typeof SORTS)[number], Digest>>

/** `rest` holds only the names to compare: the target may have queues that the source does not have. */
async function digestsOf(tools: Transfer, rest: TransferredRest, way: Way): Promise<Digests> {
  return {
    jobs: await digestOf(tools, 'jobs', way),
    keys: await digestOf(tools, 'keys', way),
    ticks: await digestOf(tools, 'ticks', way),
    settings: digestOfRest(rest),
  }
}

async function digestOf(tools: Transfer, part: Part, { limit, signal, passed }: Way): Promise<Digest> {
  const digest = digester()
  for await (const page of pagesOf(tools, part, { after: null, limit })) {
    signal.throwIfAborted()
    for (const item of page) digest.add(item)
    if (part === 'jobs') passed(page.length)
  }
  return digest.result()
}

function digestOfRest({ queues, limits, schedules, alerts, views }: TransferredRest): Digest {
  const digest = digester()
  for (const queue of queues) digest.add({ queue })
  for (const limit of limits) digest.add({ limit })
  for (const schedule of schedules) digest.add({ schedule })
  for (const alert of alerts) digest.add({ alert })
  for (const view of views) digest.add({ view })
  return digest.result()
}

interface Digest {
  /** The number of items. */
  readonly items: number
  /** 64 hex digits. */
  readonly checksum: string
}

const BITS = 256

/**
 * Adds up the hashes of the items, so that their order does not matter: two databases may sort text
 * differently.
 */
function digester() {
  let items = 0
  let sum = 0n
  return {
    add(thing: unknown): void {
      items += 1
      const hash = createHash('sha256').update(canonical(thing)).digest('hex')
      sum = BigInt.asUintN(BITS, sum + BigInt(`0x${hash}`))
    },
    result: (): Digest => ({ items, checksum: sum.toString(16).padStart(BITS / 4, '0') }),
  }
}

/** JSON with the keys of every object sorted. */
function canonical(thing: unknown): string {
  return JSON.stringify(thing, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
