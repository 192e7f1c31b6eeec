/** A limit in the table. */
import { encodeName } from '../../api/client.ts'
import { useOverrides } from '../../api/overrides.ts'
import type { Limit } from '../../api/types.ts'
import { number, plural } from '../../kit/text/format.ts'
import { Meter } from '../../kit/charts/meter.tsx'
import { Names } from '../../kit/text/names.tsx'
import { Opener } from '../../kit/table/opener.tsx'
import { Badge } from '../../kit/state.tsx'
import type { SortValues } from '../../kit/table/sort.ts'
import { ActsCell, Cell, Row } from '../../kit/table/table.tsx'
import { Countdown } from '../../kit/text/time.tsx'
import { LimitActs } from './limit-acts.tsx'
import { isPerKey, keysWords, limitWords, mostOf, unitOf } from './limit-words.ts'

export const LIMIT_COLUMNS = [
  { key: 'name', name: 'Limit' },
  { key: 'words', name: 'Rate' },
  { key: 'available', name: 'Available' },
  { key: 'held', name: 'In use', right: true },
  { key: 'next', name: 'Next token' },
  { key: 'drained', name: 'Drained' },
  { key: 'queues', name: 'Queues' },
  { key: 'acts', name: <span className="sr-only">Actions</span> },
]

export const LIMIT_VALUES: SortValues<Limit> = {
  name: ({ name }) => name,
  available: ({ available }) => available,
  held: ({ held, settings }) => (settings.type === 'rate' ? null : held),
  next: ({ nextInMs }) => nextInMs,
  drained: ({ drainedMs }) => (drainedMs > 0 ? drainedMs : null),
}

interface Props {
  readonly limit: Limit
  readonly queues: readonly string[]
  readonly asOf: number
  readonly isOpen: boolean
  readonly turn: () => void
}

export function LimitRow({ limit, queues, asOf, isOpen, turn }: Props) {
  const { name, settings, available, held, drainedMs, keys } = limit
  const perKey = isPerKey(settings)
  const overrides = useOverrides('limit', name)
  return (
    <Row>
      <Cell>
        <div className="max-w-64">
          <Opener isOpen={isOpen} turn={turn} title={name}>
            {name}
          </Opener>
          {overrides.size > 0 && (
            <p className="pl-5 text-xs text-ready">{plural(overrides.size, 'override')}</p>
          )}
        </div>
      </Cell>
      <Cell className="whitespace-nowrap">{limitWords(settings)}</Cell>
      <Cell>
        {perKey ? (
          <span className="whitespace-nowrap">{keysWords(keys ?? 0)}</span>
        ) : (
          <Meter
            label={`Availability of ${name}`}
            used={available}
            of={mostOf(settings)}
            unit={mostOf(settings) === 1 ? unitOf(settings) : `${unitOf(settings)}s`}
          />
        )}
      </Cell>
      <Cell right>{settings.type === 'rate' ? <span className="text-soft">–</span> : number(held)}</Cell>
      <Cell className="whitespace-nowrap">
        {perKey ? <span className="text-soft">–</span> : <Next limit={limit} asOf={asOf} />}
      </Cell>
      <Cell className="whitespace-nowrap">
        {drainedMs > 0 ? (
          <span className="inline-flex items-center gap-2 text-ready">
            <Badge colour="text-ready" text="drained for" />
            <Countdown until={asOf + drainedMs} />
          </span>
        ) : (
          <span className="text-soft">–</span>
        )}
      </Cell>
      <Cell>
        <Names names={queues} most={3} otherwise="none" to={(queue) => `/queues#${encodeName(queue)}`} />
      </Cell>
      <ActsCell>
        <LimitActs limit={limit} queues={queues} />
      </ActsCell>
    </Row>
  )
}

function Next({ limit: { nextInMs }, asOf }: { readonly limit: Limit; readonly asOf: number }) {
  if (nextInMs === 0) return <span className="text-soft">now</span>
  if (nextInMs === null) return <span className="text-soft">when one is released</span>
  return (
    <>
      in <Countdown until={asOf + nextInMs} />
    </>
  )
}
