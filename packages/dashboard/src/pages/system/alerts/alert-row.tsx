/** An alert rule in the table. */
import type { Alert } from '../../../api/types.ts'
import { Opener } from '../../../kit/table/opener.tsx'
import { Badge } from '../../../kit/state.tsx'
import type { SortValues } from '../../../kit/table/sort.ts'
import { ActsCell, Cell, Row } from '../../../kit/table/table.tsx'
import { durationText } from '../../../kit/forms/duration.ts'
import { checkWords } from '../../../kit/text/check-words.ts'
import { plural } from '../../../kit/text/format.ts'
import { Ago } from '../../../kit/text/time.tsx'
import { AlertActs } from './alert-acts.tsx'

export const ALERT_COLUMNS = [
  { key: 'name', name: 'Rule' },
  { key: 'checks', name: 'Checks' },
  { key: 'url', name: 'Webhook' },
  { key: 'cool', name: 'Cool-down' },
  { key: 'problems', name: 'Problems' },
  { key: 'sent', name: 'Last sent' },
  { key: 'acts', name: <span className="sr-only">Actions</span> },
]

export const ALERT_VALUES: SortValues<Alert> = {
  name: ({ name }) => name,
  url: ({ url }) => url,
  cool: ({ coolDownMs }) => coolDownMs,
  problems: ({ problems, paused }) => (paused ? null : problems.length),
  sent: ({ lastSentAt }) => lastSentAt,
}

interface Props {
  readonly alert: Alert
  readonly isOpen: boolean
  readonly turn: () => void
}

export function AlertRow({ alert, isOpen, turn }: Props) {
  const { name, checks, queue, kind, url, coolDownMs, problems, lastSentAt, paused, inCode } = alert
  const about = [...(queue === null ? [] : [`queue ${queue}`]), ...(kind === null ? [] : [`kind ${kind}`])]
  return (
    <Row>
      <Cell>
        <div className="max-w-64">
          <Opener isOpen={isOpen} turn={turn} title={name}>
            {name}
          </Opener>
          {inCode && <p className="pl-5 text-xs text-soft">in code</p>}
        </div>
      </Cell>
      <Cell>
        <span className="block max-w-64">{checks === null ? 'all' : checks.map(checkWords).join(', ')}</span>
        {about.length > 0 && <span className="text-xs text-soft">{about.join(' or ')}</span>}
      </Cell>
      <Cell>
        <span className="block max-w-64 truncate font-mono text-xs" title={url}>
          {url}
        </span>
      </Cell>
      <Cell className="whitespace-nowrap">{durationText(coolDownMs)}</Cell>
      <Cell className="whitespace-nowrap">
        {paused ? (
          <Badge colour="text-soft" text="paused" />
        ) : problems.length === 0 ? (
          <span className="text-soft">none</span>
        ) : (
          <Badge colour="text-ready" text={plural(problems.length, 'problem')} />
        )}
      </Cell>
      <Cell>
        <Ago at={lastSentAt} otherwise="never" />
      </Cell>
      <ActsCell>
        <AlertActs alert={alert} />
      </ActsCell>
    </Row>
  )
}
