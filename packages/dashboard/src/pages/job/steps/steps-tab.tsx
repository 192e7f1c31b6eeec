/** The durable steps of a job: when each ran or waits, and what it returned. */
import { useState } from 'react'
import { useSteps } from '../../../api/reads.ts'
import { useMay } from '../../../api/user/roles.ts'
import type { Inspected, Job, Step } from '../../../api/types.ts'
import { Button, TextLink } from '../../../kit/button.tsx'
import { DataView, Empty } from '../../../kit/data-view.tsx'
import { Json } from '../../../kit/json/json.tsx'
import { Cell, Row, Table } from '../../../kit/table/table.tsx'
import { bytes, span } from '../../../kit/text/format.ts'
import { useNow } from '../../../kit/text/time.tsx'
import { ChildLinks } from './child-links.tsx'
import { RunFrom } from './run-from.tsx'
import { SendEvent } from './send-event.tsx'
import { statusOf } from './status-of.ts'
import { StepBar } from './step-bar.tsx'

const COLUMNS = [
  { key: 'name', name: 'Step' },
  { key: 'status', name: 'Status' },
  { key: 'time', name: 'Time', className: 'max-sm:hidden' },
  { key: 'took', name: 'Duration', right: true },
]

interface Shown {
  readonly job: Job
  readonly left: Inspected['left']
}

const ACTIONS = { key: 'actions', name: <span className="sr-only">Actions</span>, right: true }

export function StepsTab({ job, left }: Shown) {
  const read = useSteps(job.id)
  const may = useMay()
  const [isSending, setSending] = useState(false)
  const takesEvents = may('operator') && !['done', 'dead', 'cancelled'].includes(job.state)
  return (
    <div className="flex flex-col gap-3">
      <DataView read={read}>
        {({ steps, parent }) => (
          <>
            {parent !== null && <Parent {...parent} />}
            {steps.length === 0 ? (
              <Empty title="No steps">
                A handler records steps with step.run, and waits with step.sleep.
              </Empty>
            ) : (
              <Listed job={job} left={left} steps={steps} />
            )}
          </>
        )}
      </DataView>
      {takesEvents && (
        <Button className="self-start" onClick={() => setSending(true)}>
          Send event
        </Button>
      )}
      {isSending && (
        <SendEvent id={job.id} events={awaited(read.data?.steps ?? [])} close={() => setSending(false)} />
      )}
    </div>
  )
}

/** The events that open waits are for. */
function awaited(steps: readonly Step[]): readonly string[] {
  return [...new Set(steps.flatMap(({ endedAt, events }) => (endedAt === null ? events : [])))]
}

/** The job whose step waits for this one. */
function Parent({ id, step }: { readonly id: string; readonly step: string }) {
  return (
    <p>
      Child of <TextLink to={`/jobs/${id}`}>{id}</TextLink>, step {step}
    </p>
  )
}

function Listed({ job, left, steps }: Shown & { readonly steps: readonly Step[] }) {
  const now = useNow()
  const mayAct = useMay()('operator')
  const from = Math.min(...steps.map(({ startedAt }) => startedAt))
  const to = Math.max(now, ...steps.map(({ endedAt }) => endedAt ?? 0))
  return (
    <Table label="Steps" columns={mayAct ? [...COLUMNS, ACTIONS] : COLUMNS}>
      {steps.map((step) => (
        <StepRow
          key={step.name}
          on={mayAct ? { job, left } : null}
          step={step}
          now={now}
          range={{ from, to }}
        />
      ))}
    </Table>
  )
}

interface Props {
  /** For the actions of the row. Null for a user who may not act on the job. */
  readonly on: Shown | null
  readonly step: Step
  readonly now: number
  readonly range: { readonly from: number; readonly to: number }
}

function StepRow({ on, step, now, range }: Props) {
  const { name, startedAt, endedAt, result, checkpoint, children, bytes: size } = step
  const shown = result ?? checkpoint
  return (
    <Row>
      <Cell className="max-w-0 sm:w-2/5">
        <span className="block truncate font-medium" title={name}>
          {name}
        </span>
        {shown !== null && (
          <details className="text-xs">
            <summary className="cursor-pointer text-soft">
              {result === null ? 'Checkpoint' : 'Result'}
            </summary>
            <Json value={shown} name={result === null ? 'checkpoint' : 'result'} />
          </details>
        )}
        {children.length > 0 && <ChildLinks jobs={children} />}
        {shown === null && size > 0 && (
          <span className="block text-xs text-soft">{bytes(size)}, not loaded</span>
        )}
      </Cell>
      <Cell>{statusOf(step, now)}</Cell>
      <Cell className="max-sm:hidden">
        <StepBar step={step} now={now} range={range} />
      </Cell>
      <Cell right>{span((endedAt ?? now) - startedAt)}</Cell>
      {on !== null && (
        <Cell right>
          <RunFrom {...on} step={step} />
        </Cell>
      )}
    </Row>
  )
}
