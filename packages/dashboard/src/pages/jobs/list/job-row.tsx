/** One row of the job list. */
import { ListFilter } from 'lucide-react'
import { memo } from 'react'
import { Link } from 'wouter'
import type { JobSummary } from '../../../api/types.ts'
import { LINK } from '../../../kit/button.tsx'
import { classes } from '../../../kit/classes.ts'
import { shortId } from '../../../kit/text/format.ts'
import { StateBadge } from '../../../kit/state.tsx'
import { ActsCell, Cell } from '../../../kit/table/table.tsx'
import { Ago } from '../../../kit/text/time.tsx'
import type { OptionalColumn } from './choices.ts'
import { Tip } from '../../../kit/overlays/tip.tsx'
import { toSearch } from '../filter/address.ts'
import { NO_FILTER } from '../filter/filter.ts'
import { COLUMNS } from './columns.tsx'
import { RowMenu } from '../actions/row-menu.tsx'

interface Props {
  readonly job: JobSummary
  readonly columns: readonly OptionalColumn[]
  readonly isSelected: boolean
  /** Omitted when the user has no action to select jobs for. */
  readonly toggle: ((id: string, isRange: boolean) => void) | null
  readonly label: (instance: string) => string
}

export const JobRow = memo(function JobRow({ job, columns, isSelected, toggle, label }: Props) {
  const { id, kind, queue, state, enqueuedAt } = job
  const about = `${kind} ${shortId(id)}`
  return (
    <tr data-job={id} data-marked={isSelected || undefined} className="row">
      {toggle !== null && (
        <td className="w-px py-2 pl-4">
          <input
            type="checkbox"
            aria-label={`Select ${about}`}
            className="block size-4 accent-accent"
            checked={isSelected}
            // The state is controlled by the parent; only the click knows whether Shift was held.
            onChange={() => undefined}
            onClick={({ shiftKey }) => toggle(id, shiftKey)}
          />
        </td>
      )}
      <Cell className="w-px">
        <StateBadge state={state} />
      </Cell>
      <Cell className="max-sm:w-full max-sm:max-w-0 sm:max-w-72">
        <span className="flex items-center gap-1">
          <Link
            href={`/jobs/${id}`}
            data-open
            title={kind}
            className={classes('block min-w-0 truncate font-medium', LINK)}
          >
            {kind}
          </Link>
          <Tip text="Only jobs of this kind">
            <Link
              href={`/jobs?${toSearch({ ...NO_FILTER, kind })}`}
              aria-label="Only jobs of this kind"
              className="inline-flex size-6 shrink-0 items-center justify-center rounded text-soft hover:bg-sunk hover:text-text max-sm:hidden"
            >
              <ListFilter aria-hidden className="size-3.5" />
            </Link>
          </Tip>
        </span>
        <span className="block truncate text-xs text-soft sm:hidden">
          {queue} · <Ago at={enqueuedAt} />
        </span>
      </Cell>
      {columns.map((column) => (
        <Cell key={column} right={COLUMNS[column].right ?? false} className="whitespace-nowrap max-sm:hidden">
          {COLUMNS[column].cell(job, { label })}
        </Cell>
      ))}
      <ActsCell>
        <RowMenu job={job} />
      </ActsCell>
    </tr>
  )
})
