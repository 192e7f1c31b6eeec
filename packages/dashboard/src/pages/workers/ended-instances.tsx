/** Stopped and lost processes. Collapsed, because most of them are earlier deploys. */
import type { Instance } from '../../api/types.ts'
import { number, plural, shortId, span } from '../../kit/text/format.ts'
import { Badge } from '../../kit/state.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'
import { Ago } from '../../kit/text/time.tsx'

const SHOWN = 100

const COLUMNS = [
  { key: 'name', name: 'Process' },
  { key: 'state', name: 'State' },
  { key: 'version', name: 'Version' },
  { key: 'ended', name: 'Ended' },
  { key: 'lived', name: 'Uptime', right: true },
]

const endOf = ({ endedAt, renewedAt }: Instance): number => endedAt ?? renewedAt

const VALUES: SortValues<Instance> = {
  name: ({ label, id }) => label ?? id,
  state: ({ state }) => state,
  version: ({ version }) => version,
  ended: endOf,
  lived: (instance) => endOf(instance) - instance.startedAt,
}

export function EndedInstances({ instances }: { readonly instances: readonly Instance[] }) {
  if (instances.length === 0) return null
  const shown = instances.slice(0, SHOWN)
  return (
    <details className="mt-4 rounded-xl border border-line bg-card">
      <summary className="px-4 py-3 font-semibold">
        {plural(instances.length, 'stopped process', 'stopped processes')}
      </summary>
      <div className="scrolls relative overflow-x-auto rounded-b-xl">
        <SortedTable label="Stopped processes" columns={COLUMNS} rows={shown} values={VALUES} sort="stopped">
          {({ id, label, version, state, startedAt, renewedAt, endedAt }) => (
            <Row key={id}>
              <Cell>
                <span className="block max-w-64 truncate" title={id}>
                  {label ?? shortId(id)}
                </span>
              </Cell>
              <Cell>
                {state === 'stopped' ? (
                  <Badge colour="text-cancelled" text="stopped" />
                ) : (
                  <Badge colour="text-dead" text="lost" />
                )}
              </Cell>
              <Cell>{version ?? <span className="text-soft">unknown</span>}</Cell>
              <Cell>
                <Ago at={endedAt ?? renewedAt} />
              </Cell>
              <Cell right>{span(Math.max(0, (endedAt ?? renewedAt) - startedAt))}</Cell>
            </Row>
          )}
        </SortedTable>
        {instances.length > SHOWN && (
          <p className="px-4 py-2 text-soft">Showing the newest {number(SHOWN)}.</p>
        )}
      </div>
    </details>
  )
}
