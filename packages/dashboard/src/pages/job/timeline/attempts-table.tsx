/** The attempts, one row each. */
import { useState } from 'react'
import type { Job } from '../../../api/types.ts'
import { Button } from '../../../kit/button.tsx'
import { plural, span } from '../../../kit/text/format.ts'
import { Badge, OutcomeBadge } from '../../../kit/state.tsx'
import { Cell, Row, Table } from '../../../kit/table/table.tsx'
import { Moment, useNow } from '../../../kit/text/time.tsx'
import { InstanceName, InstanceVersion } from '../instance-name.tsx'
import { firstLine } from '../tabs/error-parts.ts'
import { MOST_KEPT, ranMs, type Try } from '../tries.ts'

const COLUMNS = [
  { key: 'n', name: 'Attempt' },
  { key: 'outcome', name: 'Outcome' },
  { key: 'started', name: 'Started' },
  { key: 'waited', name: 'Wait', right: true },
  { key: 'ran', name: 'Duration', right: true },
  { key: 'instance', name: 'Instance' },
  { key: 'version', name: 'Version' },
  { key: 'error', name: 'Error' },
]

/** The newest attempts, shown at first. */
const SHOWN = 8

export function AttemptsTable({ job, tries }: { readonly job: Job; readonly tries: readonly Try[] }) {
  const [isWhole, setWhole] = useState(false)
  if (tries.length === 0)
    return (
      <p className="px-4 pb-3 text-soft">
        {job.endedAt === null ? 'No attempts yet.' : 'The job ended before its first attempt.'}
      </p>
    )
  const hidden = isWhole ? 0 : Math.max(0, tries.length - SHOWN)
  return (
    <>
      <div className="scrolls overflow-x-auto">
        <Table label="Attempts" columns={COLUMNS}>
          {tries.slice(hidden).map((one) => (
            <Attempt key={one.n} one={one} />
          ))}
        </Table>
      </div>
      {hidden > 0 && (
        <div className="border-t border-line px-4 py-2">
          <Button onClick={() => setWhole(true)}>Show {plural(hidden, 'earlier attempt')}</Button>
        </div>
      )}
      {tries.length >= MOST_KEPT && (
        <p className="px-4 py-2 text-xs text-soft">
          Only the newest {MOST_KEPT} attempts are kept; there may have been earlier ones.
        </p>
      )}
    </>
  )
}

function Attempt({ one }: { readonly one: Try }) {
  const now = useNow()
  const ran = ranMs(one, now)
  const { n, attempt, outcome, startedAt, waitedMs, instance, version, error } = one
  return (
    <Row>
      <Cell className="whitespace-nowrap tabular-nums">
        #{n}
        {attempt !== n && <span className="text-soft"> (counts as attempt {attempt})</span>}
      </Cell>
      <Cell>
        {outcome === 'running' ? (
          <Badge colour="text-running" text="running" />
        ) : (
          <OutcomeBadge outcome={outcome} />
        )}
      </Cell>
      <Cell>{startedAt === null ? <span className="text-soft">never</span> : <Moment at={startedAt} />}</Cell>
      <Cell right>{waitedMs === null ? '–' : span(waitedMs)}</Cell>
      <Cell right>{ran === null ? '–' : span(ran)}</Cell>
      <Cell>
        <InstanceName id={instance} />
      </Cell>
      <Cell className="whitespace-nowrap tabular-nums">{version ?? <InstanceVersion id={instance} />}</Cell>
      <Cell className="max-w-96 truncate text-soft">
        {error === null ? '–' : <span title={error}>{firstLine(error)}</span>}
      </Cell>
    </Row>
  )
}
