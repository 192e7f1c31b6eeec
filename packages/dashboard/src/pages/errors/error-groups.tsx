/** The list of error groups. One group can be expanded. */
import type { Errors } from '../../api/types.ts'
import { Card } from '../../kit/card.tsx'
import { classes } from '../../kit/classes.ts'
import { plural } from '../../kit/text/format.ts'
import { COLUMNS } from './columns.ts'
import { ErrorGroupRow } from './error-group-row.tsx'
import { FoldedGroups } from './folded-groups.tsx'
import { type ErrorSearch, groupsTitle, isSameGroup, scanNote } from './group-texts.ts'

interface Props {
  readonly errors: Errors
  readonly search: ErrorSearch
  /** The fingerprint of the expanded group. */
  readonly opened: string | null
  readonly open: (fingerprint: string | null) => void
}

export function ErrorGroups({ errors, search, opened, open }: Props) {
  const { groups, looked, complete } = errors
  return (
    <Card flush title={groupsTitle(errors, search.sort)}>
      {!complete && (
        <p className="border-t border-line bg-warn-soft px-4 py-2">
          Based on the latest {plural(looked, 'job')}; totals may be higher.{scanNote(search)}
        </p>
      )}
      <div
        aria-hidden
        className={classes('hidden border-b border-line px-4 py-2 text-xs font-medium text-soft', COLUMNS)}
      >
        <span>Error</span>
        <span>Trend</span>
        <span className="text-right">Dead</span>
        <span className="text-right">Retrying</span>
        <span className="text-right">First seen</span>
        <span className="text-right">Last seen</span>
        <span />
      </div>
      <ul aria-label="Error groups" className="divide-y divide-line border-t border-line lg:border-t-0">
        {groups.map((group) => (
          <ErrorGroupRow
            key={group.fingerprint}
            group={group}
            bucketMs={errors.bucketMs}
            search={search}
            isOpen={isSameGroup(group, opened)}
            turn={() => open(isSameGroup(group, opened) ? null : group.fingerprint)}
          >
            {group.folded > 0 && <FoldedGroups of={group} search={search} />}
          </ErrorGroupRow>
        ))}
      </ul>
    </Card>
  )
}
