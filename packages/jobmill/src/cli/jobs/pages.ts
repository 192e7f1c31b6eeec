/** Jobs of a filter, page after page, however many rows have to be looked at for one. */
import { BOUNDS } from '../../job/defaults.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { ListFilter } from '../../runtime/list-filter.ts'
import type { Includable, ListedJob } from '../../runtime/list-jobs.ts'

export interface Pages {
  readonly filter: ListFilter
  /** How many jobs at most; Infinity for all. */
  readonly most: number
  readonly cursor: string | undefined
  /** What else each job has. */
  readonly include: readonly Includable[]
  /** Hears how many rows were looked at. */
  readonly looked: (rows: number) => void
}

export interface FoundPage {
  readonly jobs: readonly ListedJob[]
  /** Null at the end. */
  readonly next: string | null
  /** So far. */
  readonly scanned: number
}

/** The last page has fewer jobs than it could, or there is nothing more to be had. */
export async function* pagesOf(mill: Pick<Mill, 'list'>, asked: Pages): AsyncGenerator<FoundPage> {
  let { most, cursor } = asked
  let scanned = 0
  for (;;) {
    const limit = Math.min(most, BOUNDS.pageLimit)
    const page = await mill.list(asked.filter, { limit, cursor, include: asked.include })
    most -= page.jobs.length
    scanned += page.scanned
    asked.looked(scanned)
    yield { jobs: page.jobs, next: page.next, scanned }
    if (page.next === null || most <= 0) return
    cursor = page.next
  }
}
