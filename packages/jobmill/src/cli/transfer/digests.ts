/** The checksums of one database: its jobs, held dedupe keys, ticks, and named settings. */
import { createHash } from 'node:crypto'
import type { TransferredRest, Transfer, Part } from '../../store/admin/transfer.ts'
import type { Way } from './transfer-parts.ts'
import { pagesOf } from './walk.ts'

export const SORTS = ['jobs', 'keys', 'ticks', 'settings'] as const

export type Digests = Readonly<Record<(typeof SORTS)[number], Digest>>

/** `rest` holds only the names to compare: the target may have queues that the source does not have. */
export async function digestsOf(tools: Transfer, rest: TransferredRest, way: Way): Promise<Digests> {
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

function digestOfRest({ queues, limits, schedules }: TransferredRest): Digest {
  const digest = digester()
  for (const queue of queues) digest.add({ queue })
  for (const limit of limits) digest.add({ limit })
  for (const schedule of schedules) digest.add({ schedule })
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
export function canonical(thing: unknown): string {
  return JSON.stringify(thing, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}
