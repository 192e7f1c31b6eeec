/** Reads a database page by page, and two databases side by side. */
import type { TransferredParts, Transfer, Page, Part } from '../../store/admin/transfer.ts'

/** Yields non-empty pages only. */
export async function* pagesOf<P extends Part>(
  tools: Transfer,
  part: P,
  { after, limit }: Page<P>,
): AsyncGenerator<TransferredParts[P][]> {
  for (let from = after; ;) {
    const page = await tools.exportItems(part, { after: from, limit })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    from = last
  }
}

export async function* jobsOf(tools: Transfer, limit: number): AsyncGenerator<TransferredParts['jobs']> {
  for await (const page of pagesOf(tools, 'jobs', { after: null, limit })) yield* page
}

/** Ids are small, so a page can be large. */
const IDS_AT_ONCE = 10_000

export async function* idsOf(tools: Transfer): AsyncGenerator<{ readonly id: string }> {
  let after: { readonly id: string } | null = null
  for (;;) {
    const ids: string[] = await tools.exportIds({ after, limit: IDS_AT_ONCE })
    const last = ids.at(-1)
    if (last === undefined) return
    for (const id of ids) yield { id }
    after = { id: last }
  }
}

/**
 * Yields pairs, with undefined where the item is missing. Both inputs are sorted by id, so each is read once
 * and nothing is buffered.
 */
export async function* sideBySide<T extends { readonly id: string }>(
  ofSource: AsyncGenerator<T>,
  ofTarget: AsyncGenerator<T>,
) {
  let source = await nextOf(ofSource)
  let target = await nextOf(ofTarget)
  for (;;) {
    if (source === undefined && target === undefined) return
    const id = lower(source?.id, target?.id)
    const pair = {
      id,
      source: source?.id === id ? source : undefined,
      target: target?.id === id ? target : undefined,
    }
    yield pair
    if (pair.source !== undefined) source = await nextOf(ofSource)
    if (pair.target !== undefined) target = await nextOf(ofTarget)
  }
}

async function nextOf<T>(items: AsyncGenerator<T>): Promise<T | undefined> {
  const next = await items.next()
  return next.done === true ? undefined : next.value
}

function lower(a: string | undefined, b: string | undefined): string {
  if (a === undefined || b === undefined) return a ?? b ?? ''
  return a < b ? a : b
}
