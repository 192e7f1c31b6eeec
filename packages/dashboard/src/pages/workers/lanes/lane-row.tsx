/** A process with a bar for each of its runs. Arrow keys move between runs, Enter opens the job. */
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Instance, RecentRun } from '../../../api/types.ts'
import { moment, number, plural, shortId, span } from '../../../kit/text/format.ts'
import { isFailed, type Lane, nextRun } from './lane.ts'

interface Props {
  readonly lane: Lane
  /** Undefined for a process that is no longer listed. */
  readonly instance: Instance | undefined
  readonly from: number
  readonly to: number
}

const WIDTH = 1_000
const TRACK = 7

export function LaneRow({ lane, instance, from, to }: Props) {
  const { instance: id, runs, tracks, height, peak, failed } = lane
  const [chosen, setChosen] = useState<number | null>(null)
  const [, go] = useLocation()
  const name = instance?.label ?? shortId(id)
  const at = Math.min(chosen ?? runs.length - 1, runs.length - 1)
  const run = runs[at]
  const x = (time: number): number => ((Math.max(from, Math.min(to, time)) - from) / (to - from)) * WIDTH
  const open = (): void => {
    if (run !== undefined) go(`/jobs/${run.job}`)
  }
  return (
    <li className="grid gap-x-3 gap-y-0.5 sm:grid-cols-[11rem_1fr]">
      <div className="min-w-0 text-xs">
        <p className="truncate font-medium" title={instance?.label ?? id}>
          {name}{' '}
          {!name.includes(instance?.version ?? '') && (
            <span className="font-normal text-soft">{instance?.version}</span>
          )}
        </p>
        <p className="text-soft">
          {plural(runs.length, 'run')}
          {failed > 0 && <span className="text-dead">, {number(failed)} failed</span>}, up to {peak} at once
        </p>
      </div>
      <div className="min-w-0">
        <div
          role="slider"
          tabIndex={0}
          aria-label={`Runs of ${name}`}
          aria-valuemin={1}
          aria-valuemax={runs.length}
          aria-valuenow={at + 1}
          aria-valuetext={run === undefined ? 'none' : runWords(run, to)}
          className="cursor-pointer rounded bg-sunk"
          onKeyDown={(event) => {
            const next = nextRun(at, event.key, runs.length)
            if (next !== undefined) setChosen(next)
            else if (event.key === 'Enter') open()
            else return
            event.preventDefault()
          }}
          onPointerOver={({ target }) => {
            const over = target instanceof SVGElement ? target.dataset['at'] : undefined
            if (over !== undefined) setChosen(Number(over))
          }}
          onClick={({ target }) => {
            if (target instanceof SVGElement && target.dataset['at'] !== undefined) open()
          }}
        >
          <svg
            aria-hidden
            viewBox={`0 0 ${WIDTH} ${height * TRACK}`}
            preserveAspectRatio="none"
            className="block w-full"
            style={{ height: Math.max(14, height * TRACK) }}
          >
            {instance !== undefined && (
              <rect
                x={x(instance.startedAt)}
                width={x(instance.endedAt ?? to) - x(instance.startedAt)}
                height={height * TRACK}
                fill="var(--c-line)"
                opacity="0.5"
              />
            )}
            {failedLast(runs).map(({ one, index }) => (
              <rect
                key={`${one.job} ${one.attempt} ${one.startedAt}`}
                data-at={index}
                x={x(one.startedAt)}
                y={(tracks[index] ?? 0) * TRACK}
                width={Math.max(1.5, x(one.endedAt ?? to) - x(one.startedAt))}
                height={TRACK - 1}
                fill={`var(--c-${colourOf(one)})`}
                stroke={chosen !== null && index === at ? 'var(--c-text)' : undefined}
                vectorEffect="non-scaling-stroke"
              />
            ))}
          </svg>
        </div>
        {chosen !== null && run !== undefined && (
          <p className="truncate text-xs text-soft">{runWords(run, to)}. Enter opens the job</p>
        )}
      </div>
    </li>
  )
}

/** Drawn in this order, so that a short failure is not covered. */
function failedLast(runs: readonly RecentRun[]): { readonly one: RecentRun; readonly index: number }[] {
  return runs
    .map((one, index) => ({ one, index }))
    .toSorted((a, b) => Number(isFailed(a.one)) - Number(isFailed(b.one)))
}

function colourOf(run: RecentRun): string {
  if (run.outcome === null) return 'running'
  if (isFailed(run)) return 'dead'
  return run.outcome === 'returned' ? 'done' : 'cancelled'
}

const OUTCOME_WORDS: Readonly<Partial<Record<NonNullable<RecentRun['outcome']>, string>>> = {
  returned: 'succeeded',
  'timed-out': 'timed out',
  'failed-permanently': 'failed permanently',
}

function runWords({ kind, queue, outcome, startedAt, endedAt }: RecentRun, to: number): string {
  const how = outcome === null ? 'running' : (OUTCOME_WORDS[outcome] ?? outcome)
  return `${kind} in ${queue}, ${how}, ${moment(startedAt)}, ${span(Math.max(0, (endedAt ?? to) - startedAt))}`
}
