/** Jobs page: filter, list, and actions on one or many jobs. */
import { serverNow } from '../../api/clock.ts'
import { useMemo } from 'react'
import { useMay } from '../../api/user/roles.ts'
import type { JobPage, JobSummary } from '../../api/types.ts'
import { Button } from '../../kit/button.tsx'
import { Card, PageHead } from '../../kit/card.tsx'
import { DataView } from '../../kit/data-view.tsx'
import { useHeldRows } from '../../kit/table/held-rows.ts'
import { chosenSize, usePreference } from './list/choices.ts'
import { ColumnMenu } from './list/column-menu.tsx'
import { toQuery } from './filter/address.ts'
import { chipsOf } from './filter/chips.ts'
import { CopyLink } from './filter/copy-link.tsx'
import { FilterField } from './filter/filter-field.tsx'
import { JobsTable } from './list/jobs-table.tsx'
import { MatchingMenu } from './actions/matching-menu.tsx'
import { NoJobs, NothingMatches } from './no-jobs.tsx'
import { Pager } from './list/pager.tsx'
import { SelectionBar } from './actions/selection-bar.tsx'
import { StateTabs, useCountsOf } from './list/state-tabs.tsx'
import { IndexNote } from './search/index-note.tsx'
import { SearchBar } from './search/search-bar.tsx'
import { totalOf, wholePage } from './search/search.ts'
import { TagHint } from './search/tag-hint.tsx'
import { useIndex } from './search/use-index.ts'
import { useSearch } from './search/use-search.ts'
import { ViewsMenu } from './views/views-menu.tsx'
import { useKnown } from './filter/use-known.ts'
import { type Place, usePlace } from './use-place.ts'
import { type Selection, useSelection } from './actions/use-selection.ts'

const NO_ROWS: readonly JobSummary[] = []

export function JobsPage() {
  const place = usePlace()
  const { key, wrong, choose, steps } = place
  const { filter, index, isReady } = useIndex(place.filter)
  const limit = usePreference(chosenSize)
  // A relative time is resolved once per filter: a list whose end moves cannot be paged.
  const now = useMemo(() => nowFor(key), [key])
  const id = `${key} ${index?.path ?? ''} ${steps.at(-1)?.cursor ?? ''} ${limit}`
  const query = { ...toQuery(filter, now), cursor: steps.at(-1)?.cursor }
  const searching = useSearch({ filter, query, limit, id, isReady })
  const { read, search, status } = searching
  const newest = read.data?.jobs ?? NO_ROWS
  const held = useHeldRows(`${id} ${read.isPlaceholderData}`, newest)
  const { fresh, release, holds } = held
  const whole = read.data === undefined ? undefined : wholePage(read.data, held.rows, search)
  const rows = whole?.jobs ?? NO_ROWS
  const total = totalOf(filter, useCountsOf())
  const selection = useSelection(key, rows)
  const may = useMay()
  const isNone = isNothing(whole) && steps.length === 0
  return (
    <>
      <PageHead title="Jobs" />
      <div className="mb-3 flex flex-col gap-2">
        <FilterField filter={filter} choose={choose} known={useKnown(rows)} wrong={wrong} />
        <div className="flex flex-wrap items-center justify-between gap-2">
          <StateTabs filter={filter} />
          <div className="flex flex-wrap items-center gap-1">
            {fresh > 0 && (
              <Button look="quiet" onClick={release}>
                {fresh === newest.length ? `${fresh}+` : fresh} new
              </Button>
            )}
            {may('operator') && <MatchingMenu filter={filter} now={now} isNone={isNone} />}
            <ViewsMenu filter={place.filter} />
            <CopyLink filter={filter} now={now} />
            <ColumnMenu />
          </div>
        </div>
      </div>
      <Card flush>
        {index !== null && <IndexNote filter={place.filter} index={index} choose={choose} />}
        <SearchBar
          searching={searching}
          scanned={(steps.at(-1)?.looked ?? 0) + (whole?.scanned ?? 0)}
          total={total}
          matches={rows.length}
        >
          {status !== 'done' && <TagHint filter={filter} matches={rows} choose={choose} />}
        </SearchBar>
        <div
          aria-busy={read.isPlaceholderData}
          className={read.isPlaceholderData ? 'opacity-60' : undefined}
          {...holds}
        >
          <DataView read={read} shape="table">
            {(page) => (
              <Page
                page={whole ?? page}
                place={place}
                selection={may('operator') ? selection : null}
                isComing={read.isPlaceholderData}
              />
            )}
          </DataView>
        </div>
      </Card>
      <SelectionBar
        selection={selection}
        elsewhere={selection.jobs.size - rows.filter(({ id }) => selection.jobs.has(id)).length}
      />
    </>
  )
}

/** Takes the key of the filter, so that relative times are resolved again for each filter. */
const nowFor = (_key: string): number => serverNow()

const isNothing = (page: JobPage | undefined): boolean => page?.jobs.length === 0 && page.next === null

interface Props {
  readonly page: JobPage
  readonly place: Place
  readonly selection: Selection | null
  /** The previous page is shown while the next one loads. */
  readonly isComing: boolean
}

function Page({ page, place, selection, isComing }: Props) {
  const { filter, choose, steps } = place
  const isFiltered = chipsOf(filter).length > 0
  if (isNothing(page) && steps.length === 0)
    return isFiltered ? <NothingMatches filter={filter} choose={choose} /> : <NoJobs />
  return (
    <>
      {page.jobs.length > 0 ? (
        <JobsTable jobs={page.jobs} selection={selection} />
      ) : (
        <p className="px-4 py-6 text-soft">
          {page.next === null ? 'No more matching jobs.' : 'No matches yet.'}
        </p>
      )}
      <Pager place={place} page={page} isComing={isComing} />
    </>
  )
}
