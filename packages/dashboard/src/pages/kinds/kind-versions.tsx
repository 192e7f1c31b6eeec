/** The attempts of a kind on each version of the application, latest version first. */
import { encodeName } from '../../api/client.ts'
import { useVersions } from '../../api/reads.ts'
import type { KindMetrics } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { SortedTable } from '../../kit/table/sorted-table.tsx'
import { Cell, Row } from '../../kit/table/table.tsx'
import { number, percent } from '../../kit/text/format.ts'
import { Ago } from '../../kit/text/time.tsx'

const COLUMNS = [
  { key: 'version', name: 'Version' },
  { key: 'first', name: 'First seen', right: true },
  { key: 'attempts', name: 'Attempts', right: true },
  { key: 'failed', name: 'Failed', right: true },
  { key: 'rate', name: 'Failure rate', right: true },
]

interface Ran {
  readonly version: string
  readonly firstAt: number | null
  readonly attempts: number
  readonly failed: number
}

const VALUES: SortValues<Ran> = {
  version: ({ version }) => version,
  first: ({ firstAt }) => firstAt,
  attempts: ({ attempts }) => attempts,
  failed: ({ failed }) => failed,
  rate: ({ attempts, failed }) => failed / attempts,
}

interface Props extends Pick<KindMetrics, 'byVersion'> {
  readonly kind: string
}

/** Renders nothing for processes that declare no version. */
export function KindVersions({ kind, byVersion }: Props) {
  const known = useVersions().data?.versions ?? []
  const firstSeen = new Map(known.map(({ version, firstAt }) => [version, firstAt]))
  const shown = Object.entries(byVersion)
    .map(([version, ran]): Ran => ({ version, firstAt: firstSeen.get(version) ?? null, ...ran }))
    .toSorted((a, b) => (b.firstAt ?? 0) - (a.firstAt ?? 0))
  if (shown.length === 0) return null
  return (
    <div className="scrolls -mx-4 mt-4 overflow-x-auto border-t border-line pt-3">
      <h3 className="px-4 text-xs font-semibold">Attempts by version</h3>
      <SortedTable label="Attempts by version" columns={COLUMNS} rows={shown} values={VALUES} sort="versions">
        {({ version, firstAt, attempts, failed }) => (
          <Row key={version}>
            <Cell className="wrap-anywhere">
              <TextLink to={`/jobs?kind=${encodeName(kind)}&version=${encodeName(version)}`}>
                {version}
              </TextLink>
            </Cell>
            <Cell right>
              <Ago at={firstAt} />
            </Cell>
            <Cell right>{number(attempts)}</Cell>
            <Cell right className={failed === 0 ? 'text-soft' : 'text-dead'}>
              {number(failed)}
            </Cell>
            <Cell right>{percent(failed / attempts)}</Cell>
          </Row>
        )}
      </SortedTable>
    </div>
  )
}
