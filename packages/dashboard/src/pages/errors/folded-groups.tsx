/** The groups in a folded group, fetched when it is opened. */
import { useState } from 'react'
import { useErrors } from '../../api/reads.ts'
import type { ErrorGroup } from '../../api/types.ts'
import { DataView } from '../../kit/data-view.tsx'
import { ErrorGroupRow } from './error-group-row.tsx'
import { type ErrorSearch, groupsTitle } from './group-texts.ts'

interface Props {
  readonly of: Pick<ErrorGroup, 'fingerprint' | 'kind'>
  readonly search: ErrorSearch
}

export function FoldedGroups({ of, search }: Props) {
  const { queue, text, sort, range } = search
  const read = useErrors(
    { queue, kind: of.kind, text: text === '' ? undefined : text, sort, fingerprint: of.fingerprint },
    { range },
  )
  const [opened, setOpened] = useState<string | null>(null)
  return (
    <DataView read={read} shape="table">
      {(errors) => (
        <div className="border-t border-line lg:pl-6">
          <p className="px-4 py-2 text-xs font-medium text-soft">{groupsTitle(errors, sort)}</p>
          <ul aria-label="Similar errors" className="divide-y divide-line border-t border-line">
            {errors.groups.map((group) => (
              <ErrorGroupRow
                key={group.fingerprint}
                group={group}
                bucketMs={errors.bucketMs}
                search={search}
                isOpen={group.fingerprint === opened}
                turn={() => setOpened(group.fingerprint === opened ? null : group.fingerprint)}
              />
            ))}
          </ul>
        </div>
      )}
    </DataView>
  )
}
