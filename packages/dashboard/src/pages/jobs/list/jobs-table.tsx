/** A page of the job list. */
import { CELL, PINNED } from '../../../kit/table/table.tsx'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useOverview } from '../../../api/reads.ts'
import type { JobSummary } from '../../../api/types.ts'
import { shortId } from '../../../kit/text/format.ts'
import { chosenColumns, usePreference } from './choices.ts'
import { COLUMNS } from './columns.tsx'
import { classes } from '../../../kit/classes.ts'
import { JobRow } from './job-row.tsx'
import type { Selection } from '../actions/use-selection.ts'
import { useReturnedFocus } from './use-returned-focus.ts'
import { useRowKeys } from './use-row-keys.ts'

interface Props {
  readonly jobs: readonly JobSummary[]
  /** Null when the user's role allows no actions. */
  readonly selection: Selection | null
}

const HEAD = `${CELL} font-medium whitespace-nowrap`

export function JobsTable({ jobs, selection }: Props) {
  const columns = usePreference(chosenColumns)
  const label = useInstanceLabel()
  const toggle = useSteady(selection?.toggle)
  const ids = useMemo(() => jobs.map(({ id }) => id), [jobs])
  useReturnedFocus(ids)
  useRowKeys(ids, selection === null ? null : toggle)
  const selected = selection === null ? 0 : jobs.filter(({ id }) => selection.jobs.has(id)).length
  return (
    <table aria-label="Jobs" className="w-full border-collapse text-left">
      <thead>
        <tr className="border-b border-line text-xs text-soft">
          {selection !== null && (
            <th scope="col" className="w-px py-2 pl-4">
              <input
                type="checkbox"
                aria-label="Select all on this page"
                className="block size-4 accent-accent"
                ref={(box) => {
                  if (box !== null) box.indeterminate = selected > 0 && selected < jobs.length
                }}
                checked={selected === jobs.length}
                onChange={selection.togglePage}
              />
            </th>
          )}
          <th scope="col" className={HEAD}>
            State
          </th>
          <th scope="col" className={HEAD}>
            Kind
          </th>
          {columns.map((column) => (
            <th
              key={column}
              scope="col"
              className={classes(HEAD, 'max-sm:hidden', COLUMNS[column].right === true && 'text-right')}
            >
              {COLUMNS[column].name}
            </th>
          ))}
          <th scope="col" className={classes('w-px', PINNED)}>
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line">
        {jobs.map((job) => (
          <JobRow
            key={job.id}
            job={job}
            columns={columns}
            isSelected={selection?.jobs.has(job.id) ?? false}
            toggle={selection === null ? null : toggle}
            label={label}
          />
        ))}
      </tbody>
    </table>
  )
}

/** A stable function, so that a row renders again only when it changed. */
function useSteady(toggle: Selection['toggle'] | undefined): Selection['toggle'] {
  const newest = useRef(toggle)
  useEffect(() => {
    newest.current = toggle
  })
  return useCallback((id, isRange) => newest.current?.(id, isRange), [])
}

function useInstanceLabel(): (instance: string) => string {
  const instances = useOverview().data?.instances
  return useCallback(
    (instance) => instances?.find(({ id }) => id === instance)?.label ?? shortId(instance),
    [instances],
  )
}
