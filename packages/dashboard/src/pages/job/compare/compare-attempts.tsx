/** Compares two attempts: their facts, errors and logs. */
import type { ReactNode } from 'react'
import { Select } from '../../../kit/forms/field.tsx'
import { span } from '../../../kit/text/format.ts'
import { useSearchValue } from '../../../kit/search.ts'
import { Empty } from '../../../kit/data-view.tsx'
import { Badge, OutcomeBadge, outcomeText } from '../../../kit/state.tsx'
import { Cell, Row, Table } from '../../../kit/table/table.tsx'
import { Moment, useNow } from '../../../kit/text/time.tsx'
import { InstanceName } from '../instance-name.tsx'
import { ranMs, type Try } from '../tries.ts'
import { Diff } from './diff.tsx'
import { asLines } from '../tabs/log-lines.ts'

export function CompareAttempts({ tries }: { readonly tries: readonly Try[] }) {
  const [a, chooseA] = useSearchValue('a')
  const [b, chooseB] = useSearchValue('b')
  const last = tries.at(-1)
  const before = tries.at(-2)
  if (last === undefined || before === undefined)
    return <Empty title="Nothing to compare">Attempts can be compared once there are at least two.</Empty>
  const chosen = (asked: string | null, otherwise: Try): Try =>
    tries.find(({ n }) => n === Number(asked)) ?? otherwise
  const sides = [chosen(a, before), chosen(b, last)] as const
  const choice = (label: string, one: Try, choose: (n: string) => void): ReactNode => (
    <Select aria-label={label} value={one.n} onChange={({ target }) => choose(target.value)}>
      {tries.map(({ n, outcome }) => (
        <option key={n} value={n}>{`#${n} ${outcomeText(outcome)}`}</option>
      ))}
    </Select>
  )
  return (
    <>
      <div className="scrolls overflow-x-auto">
        <Table
          label="Attempt comparison"
          columns={[
            { key: 'what', name: <span className="sr-only">Field</span> },
            { key: 'a', name: choice('First attempt', sides[0], chooseA) },
            { key: 'b', name: choice('Second attempt', sides[1], chooseB) },
          ]}
        >
          {ROWS.map(([name, Shows]) => (
            <Row key={name}>
              <Cell className="whitespace-nowrap text-soft">{name}</Cell>
              {sides.map((one, at) => (
                // oxlint-disable-next-line react/no-array-index-key -- both may be the same attempt
                <Cell key={at}>
                  <Shows one={one} />
                </Cell>
              ))}
            </Row>
          ))}
        </Table>
      </div>
      <Diff
        title="Error"
        none="Neither attempt has an error."
        names={NAMES}
        sides={sides.map(({ error }) => error?.split('\n') ?? [])}
      />
      <Diff
        title="Log"
        none="Neither attempt logged anything."
        names={NAMES}
        sides={sides.map(({ log }) => log.flatMap(asLines))}
      />
    </>
  )
}

const NAMES = ['first attempt', 'second attempt'] as const

interface OneProps {
  readonly one: Try
}

function Ended({ one: { outcome } }: OneProps) {
  if (outcome === 'running') return <Badge colour="text-running" text="running" />
  return <OutcomeBadge outcome={outcome} />
}

function Began({ one: { startedAt } }: OneProps) {
  return startedAt === null ? 'never' : <Moment at={startedAt} />
}

function Waited({ one: { waitedMs } }: OneProps) {
  return waitedMs === null ? '–' : span(waitedMs)
}

function Ran({ one }: OneProps) {
  const ran = ranMs(one, useNow())
  return ran === null ? '–' : span(ran)
}

function By({ one: { instance } }: OneProps) {
  return <InstanceName id={instance} />
}

const ROWS = [
  ['Outcome', Ended],
  ['Started', Began],
  ['Wait', Waited],
  ['Duration', Ran],
  ['Instance', By],
] as const
