/** Lifecycle events of processes, queues, schedules and duties. */
import { encodeName } from '../../api/client.ts'
import { useOverview, useTimeline } from '../../api/reads.ts'
import type { TimelineEntry } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { eventLevel, eventWords } from '../../kit/text/event-words.ts'
import { Field, Select } from '../../kit/forms/field.tsx'
import { shortId } from '../../kit/text/format.ts'
import { useSearchValue } from '../../kit/search.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { Badge } from '../../kit/state.tsx'
import { Cell, Row, Table } from '../../kit/table/table.tsx'
import { Ago } from '../../kit/text/time.tsx'
import { CHOICES } from '../../kit/text/event-types.ts'
import { Pager, usePaging } from '../../kit/table/pages.tsx'

const PER_PAGE = 50

const COLOURS = { bad: 'text-dead', warning: 'text-ready', plain: 'text-cancelled' } as const

const COLUMNS = [
  { key: 'at', name: 'When' },
  { key: 'type', name: 'Type' },
  { key: 'says', name: 'Event' },
  { key: 'where', name: 'Queue or job' },
  { key: 'instance', name: 'Reported by' },
]

export function Events() {
  const [type, setType] = useSearchValue('type')
  const paging = usePaging(type ?? '')
  const choice = CHOICES.find(({ key }) => key === type) ?? CHOICES[0]
  const read = useTimeline({ type: choice.types, limit: PER_PAGE, cursor: paging.cursor })
  return (
    <Card flush>
      <div className="max-w-72 px-4 pt-4 pb-1">
        <Field label="Type">
          {(ids) => (
            <Select {...ids} value={choice.key} onChange={(event) => setType(event.target.value)}>
              {CHOICES.map(({ key, name }) => (
                <option key={key} value={key}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <DataView read={read} shape="table">
        {({ events, next }) => (
          <>
            {events.length === 0 ? (
              <Empty title="No events of this type">
                {type === null ? 'Process starts appear here.' : 'Choose another type.'}
              </Empty>
            ) : (
              <EventTable events={events} />
            )}
            <Pager paging={paging} next={next} />
          </>
        )}
      </DataView>
    </Card>
  )
}

function EventTable({ events }: { readonly events: readonly TimelineEntry[] }) {
  const instances = useOverview().data?.instances ?? []
  const label = (id: string): string => instances.find((one) => one.id === id)?.label ?? shortId(id)
  return (
    <Table label="Events" columns={COLUMNS}>
      {events.map((event) => (
        <Row key={event.n}>
          <Cell>
            <Ago at={event.at} />
          </Cell>
          <Cell>
            <Badge colour={COLOURS[eventLevel(event)]} text={event.type} />
          </Cell>
          <Cell className="min-w-64 break-words">{eventWords(event)}</Cell>
          <Cell>
            <Where event={event} />
          </Cell>
          <Cell className="whitespace-nowrap">
            <span title={event.instance}>{label(event.instance)}</span>
          </Cell>
        </Row>
      ))}
    </Table>
  )
}

function Where({ event: { queue, job } }: { readonly event: TimelineEntry }) {
  if (job !== null) return <TextLink to={`/jobs/${encodeName(job)}`}>job {shortId(job)}</TextLink>
  if (queue === null) return <span className="text-soft">–</span>
  return (
    <span className="block max-w-48 truncate" title={queue}>
      <TextLink to={`/queues#${encodeName(queue)}`}>{queue}</TextLink>
    </span>
  )
}
