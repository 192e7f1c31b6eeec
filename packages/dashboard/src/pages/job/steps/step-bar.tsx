/** When a step ran or waited, as a bar in the time of all steps. */
import type { Step } from '../../../api/types.ts'
import { classes } from '../../../kit/classes.ts'

interface Props {
  readonly step: Pick<Step, 'kind' | 'startedAt' | 'endedAt'>
  readonly now: number
  readonly range: { readonly from: number; readonly to: number }
}

const LEAST_PERCENT = 1

export function StepBar({ step: { kind, startedAt, endedAt }, now, range: { from, to } }: Props) {
  const whole = Math.max(1, to - from)
  const share = (ms: number): number => (ms / whole) * 100
  const width = Math.max(LEAST_PERCENT, share((endedAt ?? now) - startedAt))
  const isWait = kind === 'sleep' || kind === 'event'
  return (
    <div aria-hidden className="relative h-3 w-full min-w-24">
      <div
        className={classes(
          'absolute rounded-sm',
          isWait ? 'top-1 h-1 bg-scheduled' : 'top-0 h-3',
          !isWait && (endedAt === null ? 'bg-running' : 'bg-done'),
        )}
        style={{ left: `${Math.min(100 - LEAST_PERCENT, share(startedAt - from))}%`, width: `${width}%` }}
      />
    </div>
  )
}
