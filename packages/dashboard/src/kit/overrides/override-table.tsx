/** Table of overrides, each with a reset button. */
import { Undo2 } from 'lucide-react'
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Override } from '../../api/types.ts'
import { Button, TextLink } from '../button.tsx'
import { settingText } from './setting-text.ts'
import type { SortValues } from '../table/sort.ts'
import { SortedTable } from '../table/sorted-table.tsx'
import { ActsCell, Cell, Row } from '../table/table.tsx'
import { Ago } from '../text/time.tsx'

const COLUMNS = [
  { key: 'option', name: 'Option' },
  { key: 'value', name: 'Value' },
  { key: 'code', name: 'In code' },
  { key: 'by', name: 'Set by' },
  { key: 'at', name: 'When' },
  { key: 'acts', name: <span className="sr-only">Actions</span> },
]
const OF_WHAT = [
  { key: 'what', name: 'Type' },
  { key: 'name', name: 'Name' },
]

const VALUES: SortValues<Override> = {
  what: ({ what }) => what,
  name: ({ name }) => name,
  option: ({ option }) => option,
  by: ({ by }) => by,
  at: ({ at }) => at,
}

const placeOf = ({ what, name }: Override): string => {
  if (what === 'queue') return `/queues#${encodeName(name)}`
  return what === 'limit' ? `/limits?open=${encodeName(name)}` : `/schedules/${encodeName(name)}`
}

interface Props {
  readonly overrides: readonly Override[]
  /** Lists several queues, limits and schedules, so each row shows its name. */
  readonly isOfAll?: boolean
}

export function OverrideTable({ overrides, isOfAll = false }: Props) {
  const may = useMay()
  const { actNow, isActing } = useAct()
  const reset = ({ what, name, option }: Override): void =>
    actNow({
      method: 'DELETE',
      path: `overrides/${what}/${encodeName(name)}/${encodeName(option)}`,
      done: `Reset ${option} of ${name}`,
    })
  return (
    <SortedTable
      label="Overrides"
      columns={isOfAll ? [...OF_WHAT, ...COLUMNS] : COLUMNS}
      rows={overrides}
      values={VALUES}
      sort="overrides"
    >
      {(one) => (
        <Row key={`${one.what} ${one.name} ${one.option}`}>
          {isOfAll && (
            <>
              <Cell>{one.what}</Cell>
              <Cell>
                <span className="block max-w-48 truncate" title={one.name}>
                  <TextLink to={placeOf(one)}>{one.name}</TextLink>
                </span>
              </Cell>
            </>
          )}
          <Cell className="font-mono text-xs">{one.option}</Cell>
          <Cell className={one.isApplied ? 'break-words text-ready' : 'break-words text-soft'}>
            <Value option={one.option} value={one.value} />
            {!one.isApplied && ' (not applied: code changed the type)'}
          </Cell>
          <Cell className="break-words">
            <Value option={one.option} value={one.code} />
            {!one.isInCode && <span className="text-soft"> (default)</span>}
          </Cell>
          <Cell className="break-words">{one.by ?? <span className="text-soft">unknown</span>}</Cell>
          <Cell>
            <Ago at={one.at} />
          </Cell>
          <ActsCell>
            {may('admin') && (
              <Button
                icon={Undo2}
                disabled={isActing}
                aria-label={`Reset ${one.option} of ${one.name}`}
                onClick={() => reset(one)}
              >
                Reset
              </Button>
            )}
          </ActsCell>
        </Row>
      )}
    </SortedTable>
  )
}

const LONGEST = 200

function Value({ option, value }: { readonly option: string; readonly value: unknown }) {
  const text = settingText(option, value)
  return <>{text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</>
}
