/** Draws the timeline: waits are thin, runs are tall and have the color of their outcome. */
import { useEffect, useRef, useState } from 'react'
import type { Job } from '../../../api/types.ts'
import { classes } from '../../../kit/classes.ts'
import { moment, plural, span } from '../../../kit/text/format.ts'
import { outcomeText } from '../../../kit/state.tsx'
import { Tip } from '../../../kit/overlays/tip.tsx'
import { useInstanceName } from '../instance-name.tsx'
import type { Try } from '../tries.ts'
import { type Part, partsOf } from './geometry.ts'
import { type LabelRequest, placeLabels } from './labels.ts'

const COLOURS: Readonly<Record<Try['outcome'], string>> = {
  returned: 'bg-done',
  failed: 'bg-dead',
  'timed-out': 'bg-dead',
  'failed-permanently': 'bg-dead',
  snoozed: 'bg-scheduled',
  parked: 'bg-scheduled',
  throttled: 'bg-ready',
  cancelled: 'bg-cancelled',
  interrupted: 'bg-ready',
  running: 'bg-running',
}

interface Props {
  readonly job: Job
  readonly tries: readonly Try[]
  readonly now: number
}

export function TimelineBar({ job, tries, now }: Props) {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const holder = place.current
    if (holder === null) return undefined
    const resized = new ResizeObserver(() => setWidth(holder.clientWidth))
    resized.observe(holder)
    return () => resized.disconnect()
  }, [])
  const parts = partsOf(job, tries, now)
  const end = job.endedAt === null ? `now, ${job.state}` : `${job.state} ${moment(job.endedAt)}`
  return (
    <div
      ref={place}
      role="img"
      aria-label={`${plural(tries.length, 'attempt')} from enqueue until ${end}; see the table below`}
    >
      <div aria-hidden className={classes('relative text-xs', tries.length > 0 && 'h-5')}>
        {placeLabels(labelRequestsOf(parts, width), width).map(({ key, text, left, isLast }) => (
          <span
            key={key}
            className="absolute top-0 whitespace-nowrap text-soft"
            style={isLast ? { right: 0 } : { left }}
          >
            {text}
          </span>
        ))}
      </div>
      <div className="relative h-6">
        {parts.map((part) => (
          <Drawn key={part.key} part={part} />
        ))}
      </div>
      <div aria-hidden className="flex justify-between gap-4 text-xs text-soft">
        <span>enqueued {moment(job.enqueuedAt)}</span>
        <span className="text-right">{end}</span>
      </div>
    </div>
  )
}

function Drawn({ part }: { readonly part: Part }) {
  const nameOf = useInstanceName()
  const { run, from, to, left, width } = part
  const long = span(to - from)
  const said =
    run === null
      ? `Waited ${long}`
      : `#${run.n} ${outcomeText(run.outcome)}, ${long}${run.instance === null ? '' : `, on ${nameOf(run.instance)}`}`
  return (
    <Tip text={said}>
      <div
        className={classes(
          'absolute',
          run === null
            ? 'top-2.5 h-1 bg-line'
            : classes('top-0.5 h-5 rounded-xs border-r border-card', COLOURS[run.outcome]),
          run?.outcome === 'running' && 'animate-pulse',
        )}
        style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
      />
    </Tip>
  )
}

/** The last attempt first, because it matters most. */
function labelRequestsOf(parts: readonly Part[], width: number): readonly LabelRequest[] {
  const runs = parts.filter(({ run }) => run !== null)
  return [...runs.slice(-1), ...runs.slice(0, -1)].map(({ key, run, from, to, left, width: own }) => {
    const outcome = run === null ? '' : outcomeText(run.outcome)
    return {
      key,
      middle: (left + own / 2) * width,
      texts: [`#${run?.n} ${outcome}, ${span(to - from)}`, `#${run?.n} ${outcome}`, `#${run?.n}`],
    }
  })
}
