/** All groups of errors, most jobs first. One of them can be open. */
import type { Errors } from '../../api/types/job.ts'
import { Card } from '../../kit/card.tsx'
import { classes } from '../../kit/classes.ts'
import { number, plural } from '../../kit/format.ts'
import { COLUMNS } from './columns.ts'
import { ErrorGroupRow } from './error-group-row.tsx'

interface Props {
  readonly errors: Errors
  /** A fingerprint. */
  readonly opened: string | null
  readonly open: (fingerprint: string | null) => void
}

export function ErrorGroups({ errors, opened, open }: Props) {
  const { groups, looked, complete } = errors
  const jobs = groups.reduce((sum, { dead, failing }) => sum + dead + failing, 0)
  return (
    <Card flush title={`${plural(groups.length, 'error')} in ${plural(jobs, 'job')}`}>
      {!complete && (
        <p className="border-t border-line bg-warn-soft px-4 py-2">
          Looked at {number(looked)} jobs, and there are more: counts may be higher than what stands here.
          Choose a queue or a kind to see all of it.
        </p>
      )}
      <div
        aria-hidden
        className={classes('hidden border-b border-line px-4 py-2 text-xs font-medium text-soft', COLUMNS)}
      >
        <span>Error</span>
        <span>Over time</span>
        <span className="text-right">Dead</span>
        <span className="text-right">Failing</span>
        <span className="text-right">First seen</span>
        <span className="text-right">Last seen</span>
      </div>
      <ul aria-label="Errors" className="divide-y divide-line border-t border-line lg:border-t-0">
        {groups.map((group) => (
          <ErrorGroupRow
            key={group.fingerprint}
            group={group}
            bucketMs={errors.bucketMs}
            isOpen={group.fingerprint === opened}
            turn={() => open(group.fingerprint === opened ? null : group.fingerprint)}
          />
        ))}
      </ul>
    </Card>
  )
}
