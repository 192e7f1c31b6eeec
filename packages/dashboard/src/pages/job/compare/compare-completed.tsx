/**
 * The job next to the last job of its kind that completed: what differs in the payload often explains a
 * failure. Both are read with the rights of the user, so hidden values stay hidden.
 */
import { type ReactNode, useState } from 'react'
import { useJob, useJobs } from '../../../api/reads.ts'
import type { Inspected } from '../../../api/types.ts'
import { Button, TextLink } from '../../../kit/button.tsx'
import { DataView, Empty } from '../../../kit/data-view.tsx'
import { number, plural, shortId, span } from '../../../kit/text/format.ts'
import { StateBadge } from '../../../kit/state.tsx'
import { Cell, Row, Table } from '../../../kit/table/table.tsx'
import { Moment, useNow } from '../../../kit/text/time.tsx'
import { InstanceName, InstanceVersion } from '../instance-name.tsx'
import { LARGEST } from '../largest.ts'
import { ranMs, triesOf, type Try } from '../tries.ts'
import { asLines } from '../tabs/log-lines.ts'
import { Diff } from './diff.tsx'
import { jsonLines } from './json-lines.ts'

interface Props {
  readonly read: Inspected
  readonly tries: readonly Try[]
}

/** The comparison must not change while the user reads it. The R key loads it again. */
const NEVER_MS = Number.POSITIVE_INFINITY

export function CompareCompleted({ read, tries }: Props) {
  const { kind, queue } = read.job
  const [cursor, setCursor] = useState<string | undefined>(undefined)
  const found = useJobs({ kind, queue, state: 'done', limit: 1, cursor }, { atMostEveryMs: NEVER_MS })
  return (
    <DataView read={found}>
      {({ jobs: [last], next, complete, scanned }) => {
        if (last !== undefined) return <Compared id={last.id} read={read} tries={tries} />
        if (complete || next === null)
          return (
            <Empty title="No completed job">
              No {kind} job in queue {queue} has completed, or retention has deleted it.
            </Empty>
          )
        return (
          <Empty title="No completed job yet">
            <p className="mb-3">
              Searched {plural(scanned, 'completed job')} of queue {queue}.
            </p>
            <Button onClick={() => setCursor(next)}>Keep searching</Button>
          </Empty>
        )
      }}
    </DataView>
  )
}

function Compared({ id, read, tries }: Props & { readonly id: string }) {
  const completed = useJob(id, LARGEST, { atMostEveryMs: NEVER_MS })
  return (
    <DataView read={completed}>
      {(other) => (
        <Sides
          sides={[
            { ...other, last: triesOf(other.job, other.attempts).at(-1) },
            { ...read, last: tries.at(-1) },
          ]}
        />
      )}
    </DataView>
  )
}

interface Side extends Inspected {
  readonly last: Try | undefined
}

function Sides({ sides }: { readonly sides: readonly [completed: Side, own: Side] }) {
  const [completed, own] = sides
  const isLarge = sides.some(({ left }) => left.payload !== undefined)
  const hasMetadata = sides.some(({ job }) => job.metadata !== null)
  return (
    <>
      <div className="scrolls overflow-x-auto">
        <Table
          label="Job comparison"
          columns={[
            { key: 'what', name: <span className="sr-only">Field</span> },
            {
              key: 'completed',
              name: (
                <>
                  Last completed job{' '}
                  <TextLink to={`/jobs/${completed.job.id}`} className="font-mono">
                    {shortId(completed.job.id)}
                  </TextLink>
                </>
              ),
            },
            { key: 'own', name: 'This job' },
          ]}
        >
          {ROWS.map(([name, text]) => (
            <Row key={name}>
              <Cell className="whitespace-nowrap text-soft">{name}</Cell>
              {sides.map((side) => (
                <Cell key={side.job.id}>{text(side)}</Cell>
              ))}
            </Row>
          ))}
        </Table>
      </div>
      {isLarge ? (
        <p className="text-soft">
          The payloads are too large to compare here. Download both to compare them.
        </p>
      ) : (
        <Diff
          title="Payload"
          none="Neither job has a payload."
          names={NAMES}
          sides={sides.map(({ job }) => jsonLines(job.payload))}
        />
      )}
      {hasMetadata && (
        <Diff
          title="Metadata"
          none="Neither job has metadata."
          names={NAMES}
          sides={sides.map(({ job }) => jsonLines(job.metadata))}
        />
      )}
      <Diff
        title="Log of the last attempt"
        none="Neither job logged anything."
        names={NAMES}
        sides={[completed, own].map(({ last }) => last?.log.flatMap(asLines) ?? [])}
      />
    </>
  )
}

const NAMES = ['last completed job', 'this job'] as const

function Ran({ last }: { readonly last: Try | undefined }) {
  const now = useNow()
  const ran = last === undefined ? null : ranMs(last, now)
  return ran === null ? '–' : span(ran)
}

const ROWS: readonly (readonly [string, (side: Side) => ReactNode])[] = [
  ['State', ({ job }) => <StateBadge state={job.state} />],
  ['Enqueued', ({ job }) => <Moment at={job.enqueuedAt} />],
  ['Attempts', ({ job }) => `${number(job.attempt)} of ${number(job.maxAttempts)}`],
  ['Duration', ({ last }) => <Ran last={last} />],
  ['Instance', ({ last }) => <InstanceName id={last?.instance ?? null} />],
  ['Version', ({ last }) => last?.version ?? <InstanceVersion id={last?.instance ?? null} />],
  ['Tags', ({ job }) => (job.tags.length === 0 ? '–' : job.tags.join(', '))],
]
