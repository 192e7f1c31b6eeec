/** Duties: who leads each one, and when it last succeeded. */
import { Zap } from 'lucide-react'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useWorkers } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Answer, System } from '../../api/types.ts'
import { IconButton } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { plural, shortId, span } from '../../kit/text/format.ts'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { ActsCell, Cell, Row } from '../../kit/table/table.tsx'
import { Ago } from '../../kit/text/time.tsx'

const COLUMNS = [
  { key: 'name', name: 'Duty' },
  { key: 'leader', name: 'Leader' },
  { key: 'last', name: 'Last success' },
  { key: 'every', name: 'Interval' },
  { key: 'failures', name: <span title="Consecutive failures">Failures</span>, right: true },
]

const VALUES: SortValues<System['duties'][number]> = {
  name: ({ name }) => name,
  last: ({ lastSuccessAt }) => lastSuccessAt,
  every: ({ everyMs }) => everyMs,
  failures: ({ failures }) => failures,
}

export function Duties({ duties }: Pick<System, 'duties'>) {
  const may = useMay()
  const instances = useWorkers().data?.instances ?? []
  const label = (id: string): string => instances.find((one) => one.id === id)?.label ?? shortId(id)
  return (
    <Card flush title="Duties">
      <SortedTable
        label="Duties"
        rows={duties}
        values={VALUES}
        sort="duties"
        columns={
          may('admin')
            ? [...COLUMNS, { key: 'run', name: <span className="sr-only">Run now</span> }]
            : COLUMNS
        }
      >
        {({ name, leader, lastSuccessAt, everyMs, failures }) => (
          <Row key={name}>
            <Cell className="font-medium whitespace-nowrap">{name}</Cell>
            <Cell>
              {leader === null ? (
                <span className="whitespace-nowrap text-soft">each process</span>
              ) : (
                <span className="block min-w-28 wrap-anywhere" title={leader}>
                  {label(leader)}
                </span>
              )}
            </Cell>
            <Cell>
              <Ago at={lastSuccessAt} otherwise="–" />
            </Cell>
            <Cell className="whitespace-nowrap">
              {(everyMs ?? null) === null ? <span className="text-soft">on demand</span> : span(everyMs ?? 0)}
            </Cell>
            <Cell right className={failures > 0 ? 'font-medium text-dead' : ''}>
              {failures}
            </Cell>
            {may('admin') && <ActsCell>{everyMs !== null && <RunNow name={name} />}</ActsCell>}
          </Row>
        )}
      </SortedTable>
    </Card>
  )
}

function RunNow({ name }: { readonly name: string }) {
  const { actNow, isActing } = useAct<Answer<'duties.run'>>()
  return (
    <IconButton
      isTight
      label={`Run now: ${name}`}
      word="Run now"
      icon={Zap}
      disabled={isActing}
      onClick={() =>
        actNow({
          method: 'POST',
          path: `duties/${encodeName(name)}/run`,
          done: ({ counts }) => `Ran ${name}: ${countsWords(counts)}`,
        })
      }
    />
  )
}

function countsWords(counts: Readonly<Record<string, number>>): string {
  const some = Object.entries(counts).filter(([, n]) => n > 0)
  return some.length === 0 ? 'nothing to do' : some.map(([what, n]) => plural(n, what, what)).join(', ')
}
