/** Kinds page: every kind, how well it works, and how long its attempts run. */
import { useKinds } from '../../api/reads.ts'
import type { Kind } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card, PageHead } from '../../kit/card.tsx'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { HealthBadge } from '../../kit/health.tsx'
import { KindLink } from '../../kit/kind-link.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'
import { number, percent, rate, span } from '../../kit/text/format.ts'

const SHARES = ['p50', 'p95', 'p99'] as const

const COLUMNS = [
  { key: 'kind', name: 'Kind' },
  { key: 'health', name: 'Health' },
  { key: 'success', name: 'Success rate', right: true },
  { key: 'rate', name: 'Attempts', right: true },
  ...SHARES.map((share) => ({ key: share, name: share, group: 'Run time', right: true })),
  { key: 'queue', name: 'Queue' },
  { key: 'processes', name: 'Processes', right: true },
]

const successOf = ({ recent }: Kind): number | null =>
  recent === null || recent.attempts === 0 ? null : (recent.attempts - recent.failed) / recent.attempts

const VALUES: SortValues<Kind> = {
  kind: ({ kind }) => kind,
  success: successOf,
  rate: ({ recent }) => recent?.attempts ?? null,
  p50: ({ recent }) => recent?.running.p50 ?? null,
  p95: ({ recent }) => recent?.running.p95 ?? null,
  p99: ({ recent }) => recent?.running.p99 ?? null,
  queue: ({ queue }) => queue,
  processes: ({ instances }) => instances,
}

const WINDOW_S = 600
const RANK = { failing: 0, degraded: 1, ok: 2 } as const

export function KindsPage() {
  const read = useKinds()
  return (
    <>
      <PageHead title="Kinds" note="Attempts of the last 10 minutes" />
      <Card flush>
        <DataView read={read} shape="table">
          {({ kinds }) =>
            kinds.length === 0 ? (
              <Empty title="No kinds">Kinds appear when a process that defines them starts.</Empty>
            ) : (
              <SortedTable label="Kinds" columns={COLUMNS} rows={kinds.toSorted(worstFirst)} values={VALUES}>
                {(kind) => <KindRow key={kind.kind} kind={kind} />}
              </SortedTable>
            )
          }
        </DataView>
      </Card>
    </>
  )
}

const rankOf = ({ recent }: Kind): number => (recent === null ? RANK.ok : RANK[recent.health])

/** Sorted by name within each health, so that rows do not move. */
function worstFirst(a: Kind, b: Kind): number {
  return rankOf(a) - rankOf(b) || a.kind.localeCompare(b.kind, 'en')
}

function KindRow({ kind: one }: { readonly kind: Kind }) {
  const { kind, queue, instances, recent } = one
  const { attempts = 0, failed = 0, running } = recent ?? {}
  const success = successOf(one)
  return (
    <Row>
      <Cell className="min-w-40">
        <KindLink kind={kind} className="font-medium" />
      </Cell>
      <Cell>
        {recent === null ? (
          <span className="text-soft">no attempts</span>
        ) : (
          <HealthBadge word={recent.health} attempts={attempts} failed={failed} />
        )}
      </Cell>
      <Cell right>{success === null ? <None /> : percent(success)}</Cell>
      <Cell right>{attempts === 0 ? <None /> : rate(attempts / WINDOW_S)}</Cell>
      {SHARES.map((share) => {
        const ms = running?.[share] ?? null
        return (
          <Cell key={share} right>
            {ms === null ? <None /> : span(ms)}
          </Cell>
        )
      })}
      <Cell>
        {queue === null ? <None /> : <TextLink to={`/queues#${encodeURIComponent(queue)}`}>{queue}</TextLink>}
      </Cell>
      <Cell right>{instances === 0 ? <span className="text-dead">none</span> : number(instances)}</Cell>
    </Row>
  )
}

function None() {
  return <span className="text-soft">–</span>
}
