/** The largest error groups of a kind. */
import type { Errors } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Cell, Row, Table } from '../../kit/table/table.tsx'
import { number, plural } from '../../kit/text/format.ts'
import { Ago } from '../../kit/text/time.tsx'

const MOST = 5

const COLUMNS = [
  { key: 'error', name: 'Error' },
  { key: 'dead', name: 'Dead', right: true },
  { key: 'retrying', name: 'Retrying', right: true, className: 'max-sm:hidden' },
  { key: 'last', name: 'Last seen', right: true },
]

export function KindErrors({ kind, errors: { groups } }: { readonly kind: string; readonly errors: Errors }) {
  const all = `/errors?${new URLSearchParams({ kind }).toString()}`
  if (groups.length === 0) return <p className="px-4 pb-3 text-soft">No dead or retrying jobs.</p>
  return (
    <>
      <Table label="Errors" columns={COLUMNS}>
        {groups.slice(0, MOST).map(({ fingerprint, shape, dead, failing, lastAt, newIn }) => (
          <Row key={fingerprint}>
            <Cell>
              <TextLink
                to={`${all}&open=${encodeURIComponent(fingerprint)}`}
                className="line-clamp-2 break-words"
              >
                {shape}
              </TextLink>
              {newIn !== null && <b className="text-xs font-medium text-dead">new in {newIn}</b>}
            </Cell>
            <Cell right className={dead === 0 ? 'text-soft' : 'text-dead'}>
              {number(dead)}
            </Cell>
            <Cell right className="max-sm:hidden">
              {number(failing)}
            </Cell>
            <Cell right>
              <Ago at={lastAt} />
            </Cell>
          </Row>
        ))}
      </Table>
      {groups.length > MOST && (
        <p className="px-4 py-2">
          <TextLink to={all}>{plural(groups.length - MOST, 'more error group')}</TextLink>
        </p>
      )}
    </>
  )
}
