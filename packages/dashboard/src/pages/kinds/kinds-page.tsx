/** Kinds page: every kind, how well it works, and how long its attempts run. */
import { useKinds } from '../../api/reads.ts'
import type { Kind } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card, PageHead } from '../../kit/card.tsx'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { HealthBadge } from '../../kit/health.tsx'
import { KindLink } from '../../kit/kind-link.tsx'
import { Cell, Row, Table } from '../../kit/table/table.tsx'
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
              <Table label="Kinds" columns={COLUMNS}>
                {kinds.toSorted(worstFirst).map((kind) => (
                  <KindRow key={kind.kind} kind={kind} />
                ))}
              </Table>
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

function KindRow({ kind: { kind, queue, instances, recent } }: { readonly kind: Kind }) {
  const { attempts = 0, failed = 0, running } = recent ?? {}
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
      <Cell right>{attempts === 0 ? <None /> : percent((attempts - failed) / attempts)}</Cell>
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
