/** The checksums of one database: its jobs, held dedupe keys, ticks, and named settings. */
import type { TransferredRest, Transfer, Part } from '../../store/admin/transfer.ts'
import type { Way } from './transfer-parts.ts'
import { type Digest, digester } from './digest.ts'
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
