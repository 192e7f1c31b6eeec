/** Errors page: dead and retrying jobs, grouped by error. */
import { useSearchParams } from 'wouter'
import { useRange } from '../../api/range.ts'
import { useErrors, useKinds, useOverview } from '../../api/reads.ts'
import { Button } from '../../kit/button.tsx'
import { Card, PageHead } from '../../kit/card.tsx'
import { plural } from '../../kit/text/format.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { RangeChoice } from '../../kit/charts/range-choice.tsx'
import { Select, TextInput } from '../../kit/forms/field.tsx'
import { useSearchValue } from '../../kit/search.ts'
import { ErrorFilter } from './error-filter.tsx'
import { ErrorGroups } from './error-groups.tsx'

const MOST_CHARS = 1_000
const SORTS = [
  ['jobs', 'Most jobs'],
  ['lastAt', 'Last seen'],
  ['firstAt', 'First seen'],
] as const

export function ErrorsPage() {
  const [search, setSearch] = useSearchParams()
  const queue = search.get('queue') ?? ''
  const kind = search.get('kind') ?? ''
  const [text, setText] = useSearchValue('text')
  const [chosenSort, setSort] = useSearchValue('sort')
  const sort = SORTS.find(([name]) => name === chosenSort)?.[0] ?? 'jobs'
  const ranging = useRange()
  const isRanged = search.has('range') || ranging.range.preset === null
  const range = isRanged ? ranging.range : null
  const read = useErrors({ queue, kind, text: text ?? undefined, sort }, { range })
  const queues = useOverview().data?.queues ?? []
  const kinds = useKinds().data?.kinds ?? []

  function write(name: string, value: string): void {
    setSearch((before) => {
      const next = new URLSearchParams(before)
      if (value === '') next.delete(name)
      else next.set(name, value)
      return next
    })
  }

  return (
    <>
      <PageHead title="Errors" note="Dead and retrying jobs, grouped by error">
        <TextInput
          type="search"
          aria-label="Search errors"
          placeholder="Error text"
          maxLength={MOST_CHARS}
          value={text ?? ''}
          onChange={(event) => setText(event.target.value)}
        />
        <ErrorFilter
          label="Queue"
          all="All queues"
          chosen={queue}
          known={queues.map(({ settings }) => settings.name)}
          choose={(name) => write('queue', name)}
        />
        <ErrorFilter
          label="Kind"
          all="All kinds"
          chosen={kind}
          known={[...kinds.map((one) => one.kind), ...(read.data?.groups ?? []).map((group) => group.kind)]}
          choose={(name) => write('kind', name)}
        />
        <Select
          aria-label="Sort by"
          value={sort}
          onChange={(event) => setSort(event.target.value === 'jobs' ? null : event.target.value)}
        >
          {SORTS.map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </Select>
        <RangeChoice ranging={ranging} all={{ isChosen: !isRanged, choose: () => write('range', '') }} />
      </PageHead>
      <DataView read={read} shape="groups">
        {(errors) =>
          errors.groups.length > 0 ? (
            <ErrorGroups
              errors={errors}
              search={{ queue, kind, text: text ?? '', sort, range }}
              opened={search.get('open')}
              open={(fingerprint) => write('open', fingerprint ?? '')}
            />
          ) : (
            <Card>
              {queue === '' && kind === '' && text === null && range === null ? (
                <Empty title="No errors">
                  No dead or retrying jobs. Checked {plural(errors.looked, 'job')}.
                </Empty>
              ) : (
                <Empty title="No matching errors">
                  <p className="mb-3">
                    No dead or retrying jobs match this queue, kind, text and time range.
                  </p>
                  <Button onClick={() => setSearch({})}>View all errors</Button>
                </Empty>
              )}
            </Card>
          )
        }
      </DataView>
    </>
  )
}
