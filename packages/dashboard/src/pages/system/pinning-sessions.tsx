/** Sessions that keep PostgreSQL from vacuuming deleted rows. */
import type { System } from '../../api/types.ts'
import { Card } from '../../kit/card.tsx'
import { span } from '../../kit/text/format.ts'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'

type Sessions = NonNullable<System['database']>['pinned']

const COLUMNS = [
  { key: 'pid', name: 'Process', right: true },
  { key: 'age', name: 'Open for', right: true },
  { key: 'user', name: 'User' },
  { key: 'state', name: 'State' },
  { key: 'query', name: 'Statement' },
]

const VALUES: SortValues<Sessions[number]> = {
  pid: ({ pid }) => pid,
  age: ({ ageMs }) => ageMs,
  user: ({ user }) => user,
  state: ({ state }) => state,
}

export function PinningSessions({ sessions }: { readonly sessions: Sessions }) {
  if (sessions.length === 0) return null
  return (
    <Card flush title="Sessions holding back vacuum" className="border-dead!">
      <p className="px-4 pb-2 text-soft">
        These sessions hold back the xmin horizon: vacuum cannot remove dead rows, and claims get slower. End
        them with <code className="font-mono">SELECT pg_terminate_backend(process)</code>.
      </p>
      <SortedTable
        label="Sessions holding back vacuum"
        columns={COLUMNS}
        rows={sessions}
        values={VALUES}
        sort="sessions"
      >
        {({ pid, ageMs, user, state, query }) => (
          <Row key={pid}>
            <Cell right>{pid}</Cell>
            <Cell right>{span(ageMs)}</Cell>
            <Cell>{user ?? '–'}</Cell>
            <Cell>{state}</Cell>
            <Cell>
              <span className="block max-w-lg truncate font-mono text-xs" title={query ?? undefined}>
                {query ?? 'hidden from viewers'}
              </span>
            </Cell>
          </Row>
        )}
      </SortedTable>
    </Card>
  )
}
