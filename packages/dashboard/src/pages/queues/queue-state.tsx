/** The state of a queue: active, paused or cooling down. */
import type { Queue } from '../../api/types.ts'
import { Badge } from '../../kit/state.tsx'
import { Countdown } from '../../kit/text/time.tsx'

interface Props {
  readonly settings: Queue
  /** When the response arrived; the rest of the cool-down counts from then. */
  readonly asOf: number
}

export function QueueState({ settings: { paused, coolingMs }, asOf }: Props) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
      {paused && <Badge colour="text-ready" text="paused" />}
      {coolingMs > 0 && (
        <span className="inline-flex items-center gap-1 whitespace-nowrap text-scheduled">
          <Badge colour="text-scheduled" text="cooling down" />
          <Countdown until={asOf + coolingMs} />
        </span>
      )}
      {!paused && coolingMs <= 0 && <Badge colour="text-done" text="active" />}
    </span>
  )
}
