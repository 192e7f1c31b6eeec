/** The latest lifecycle events, without routine ones, which would hide the rest. */
import { useTimeline } from '../../api/reads.ts'
import { useMay } from '../../api/user/roles.ts'
import { LinkButton, TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { classes } from '../../kit/classes.ts'
import { eventLevel, eventWords } from '../../kit/text/event-words.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { Ago } from '../../kit/text/time.tsx'
import { NOTABLE_TYPES } from '../../kit/text/event-types.ts'
import { mergeEvents, type MergedEvent } from './merge-events.ts'

const NEWEST = 8
/** More than are shown, because some of them are merged. */
const READ = 40

const COLOURS = { bad: 'bg-dead', warning: 'bg-ready', plain: 'bg-line' } as const
const LEVELS = { bad: 'Failure: ', warning: 'Warning: ', plain: '' } as const

export function NewestEvents() {
  const may = useMay()
  // Only operators may read the audit log.
  const types = may('operator') ? [...NOTABLE_TYPES, 'audit'] : NOTABLE_TYPES
  const read = useTimeline({ limit: READ, type: types })
  return (
    <Card
      title="Latest events"
      tools={
        <LinkButton to="/system" look="quiet">
          View all events
        </LinkButton>
      }
    >
      <DataView read={read} shape="list">
        {({ events }) =>
          events.length === 0 ? (
            <Empty title="No events yet">
              Process starts and stops, throttled queues and changes by operators appear here.
            </Empty>
          ) : (
            <ul className="flex flex-col gap-2">
              {mergeEvents(events)
                .slice(0, NEWEST)
                .map((one) => (
                  <Event key={one.event.n} {...one} />
                ))}
            </ul>
          )
        }
      </DataView>
    </Card>
  )
}

function Event({ event, processes }: MergedEvent) {
  const level = eventLevel(event)
  const words = `${eventWords(event)}${processes > 1 ? ` (${processes} processes)` : ''}`
  return (
    <li className="flex items-baseline gap-2">
      <span aria-hidden className={classes('size-2 shrink-0 rounded-full', COLOURS[level])} />
      <span className="line-clamp-2 min-w-0 grow break-words" title={words}>
        <span className="sr-only">{LEVELS[level]}</span>
        {event.job === null ? (
          words
        ) : (
          <TextLink to={`/jobs/${encodeURIComponent(event.job)}`} className="leading-6">
            {words}
          </TextLink>
        )}
      </span>
      <span className="shrink-0 text-xs text-soft">
        <Ago at={event.at} />
      </span>
    </li>
  )
}
