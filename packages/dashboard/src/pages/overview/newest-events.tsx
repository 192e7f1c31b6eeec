/** The latest lifecycle events. */
import { useTimeline } from '../../api/reads.ts'
import type { TimelineEntry } from '../../api/types.ts'
import { LinkButton, TextLink } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { classes } from '../../kit/classes.ts'
import { eventLevel, eventWords } from '../../kit/text/event-words.ts'
import { Empty, DataView } from '../../kit/data-view.tsx'
import { Ago } from '../../kit/text/time.tsx'

const NEWEST = 8

const COLOURS = { bad: 'bg-dead', warning: 'bg-ready', plain: 'bg-line' } as const
const LEVELS = { bad: 'Failure: ', warning: 'Warning: ', plain: '' } as const

export function NewestEvents() {
  const read = useTimeline({ limit: NEWEST })
  return (
    <Card
      title="Latest events"
      tools={
        <LinkButton to="/system" look="quiet">
          View all events
        </LinkButton>
      }
    >
      <DataView read={read}>
        {({ events }) =>
          events.length === 0 ? (
            <Empty title="No events yet">
              Process starts and stops, throttled queues and schedule runs appear here.
            </Empty>
          ) : (
            <ul className="flex flex-col gap-2">
              {events.map((event) => (
                <Event key={event.n} event={event} />
              ))}
            </ul>
          )
        }
      </DataView>
    </Card>
  )
}

function Event({ event }: { readonly event: TimelineEntry }) {
  const level = eventLevel(event)
  const words = eventWords(event)
  return (
    <li className="flex items-baseline gap-2">
      <span aria-hidden className={classes('size-2 shrink-0 rounded-full', COLOURS[level])} />
      <span className="min-w-0 grow truncate" title={words}>
        <span className="sr-only">{LEVELS[level]}</span>
        {event.job === null ? (
          words
        ) : (
          <TextLink to={`/jobs/${encodeURIComponent(event.job)}`}>{words}</TextLink>
        )}
      </span>
      <span className="shrink-0 text-xs text-soft">
        <Ago at={event.at} />
      </span>
    </li>
  )
}
