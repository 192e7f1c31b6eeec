/** Users of a limit: queues that name it, and kinds whose handlers acquire it. */
import { encodeName } from '../../api/client.ts'
import type { LimitMetrics } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { compact, number } from '../../kit/text/format.ts'
import { Names } from '../../kit/text/names.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'

const SHOWN = 12

const COLUMNS = [
  { key: 'kind', name: 'Kind' },
  { key: 'granted', name: 'Granted', right: true },
  { key: 'refused', name: 'Denied', right: true },
]

interface Usage {
  readonly kind: string
  readonly granted: number
  readonly refused: number
}

const VALUES: SortValues<Usage> = {
  kind: ({ kind }) => kind,
  granted: ({ granted }) => granted,
  refused: ({ refused }) => refused,
}

interface Props {
  readonly queues: readonly string[]
  readonly all: LimitMetrics | undefined
}

export function Drawers({ queues, all }: Props) {
  const kinds = Object.entries(all?.byKind ?? {})
    .map(([kind, used]): Usage => ({ kind, ...used }))
    .toSorted((a, b) => b.granted + b.refused - (a.granted + a.refused))
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div>
        <h3 className="mb-1 text-xs font-semibold">Queues</h3>
        <Names
          names={queues}
          otherwise="none; handlers may acquire it by name"
          to={(queue) => `/queues#${encodeName(queue)}`}
        />
      </div>
      <div className="scrolls relative overflow-x-auto rounded-lg border border-line bg-card">
        <h3 className="px-4 pt-3 text-xs font-semibold">Usage by kind</h3>
        {kinds.length === 0 ? (
          <p className="px-4 pt-1 pb-3 text-soft">No usage in this range.</p>
        ) : (
          <SortedTable
            label="Usage by kind"
            columns={COLUMNS}
            rows={kinds.slice(0, SHOWN)}
            values={VALUES}
            sort="usage"
          >
            {({ kind, granted, refused }) => (
              <Row key={kind}>
                <Cell>
                  <span className="block max-w-40 truncate" title={kind}>
                    <TextLink to={`/jobs?kind=${encodeName(kind)}`}>{kind}</TextLink>
                  </span>
                </Cell>
                <Cell right>{compact(granted)}</Cell>
                <Cell right>{compact(refused)}</Cell>
              </Row>
            )}
          </SortedTable>
        )}
        {kinds.length > SHOWN && (
          <p className="px-4 py-2 text-soft">and {number(kinds.length - SHOWN)} more kinds with less usage</p>
        )}
      </div>
    </div>
  )
}
