/** Reads all jobs that match a filter, page by page. One page may take several scans. */
import { BOUNDS } from '../../job/defaults.ts'
import type { Mill } from '../../runtime/mill.ts'
import type { ListFilter } from '../../runtime/operate/list-filter.ts'
import type { Includable, ListedJob } from '../../runtime/operate/list-jobs.ts'

export interface Pages {
  readonly filter: ListFilter
  /** The maximum number of jobs; Infinity for all. */
  readonly most: number
  readonly cursor?: string | undefined
  /** Optional parts of each job to include. */
  readonly include?: readonly Includable[]
  /** Called with the number of rows scanned so far. */
  readonly looked: (rows: number) => void
}

export interface FoundPage {
  readonly jobs: readonly ListedJob[]
  /** Cursor of the next page; null at the end. */
  readonly next: string | null
  /** Rows scanned so far. */
  readonly scanned: number
}

/** Ends when the filter has no more jobs, or after `most` jobs. */
export async function* pagesOf(mill: Pick<Mill, 'list'>, asked: Pages): AsyncGenerator<FoundPage> {
  let { most, cursor } = asked
  let scanned = 0
  for (;;) {
    const limit = Math.min(most, BOUNDS.pageLimit)
    const page = await mill.list(asked.filter, { limit, cursor, include: asked.include ?? [] })
    most -= page.jobs.length
    scanned += page.scanned
    asked.looked(scanned)
    yield { jobs: page.jobs, next: page.next, scanned }
    if (page.next === null || most <= 0) return
    cursor = page.next
  }
}
