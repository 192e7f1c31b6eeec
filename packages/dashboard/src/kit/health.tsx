/** The health of a queue or a kind, as a word with a dot and a color. */
import type { Health, QueueAndCounts } from '../api/types.ts'
import { number } from './text/format.ts'
import { Badge } from './state.tsx'
import { Countdown } from './text/time.tsx'

const WORDS: Readonly<Record<Health['word'], readonly [colour: string, word: string]>> = {
  ok: ['text-done', 'ok'],
  degraded: ['text-ready', 'degraded'],
  failing: ['text-dead', 'failing'],
  'no-workers': ['text-dead', 'no workers'],
  paused: ['text-ready', 'paused'],
  cooling: ['text-scheduled', 'cooling down'],
}

/** The attempts are those of the last 10 minutes. */
export function HealthBadge({ word, attempts, failed }: Health) {
  const [colour, text] = WORDS[word]
  const title =
    failed === 0
      ? undefined
      : `${number(failed)} of ${number(attempts)} attempts failed in the last 10 minutes`
  return (
    <span title={title}>
      <Badge colour={colour} text={text} />
    </span>
  )
}

interface Props {
  readonly queue: QueueAndCounts
  /** When the response arrived; the rest of the cool-down counts from then. */
  readonly asOf: number
}

export function QueueHealth({ queue: { settings, health }, asOf }: Props) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
      <HealthBadge {...health} />
      {settings.coolingMs > 0 && (
        <span className="whitespace-nowrap text-scheduled">
          {health.word !== 'cooling' && 'cooling down '}
          <Countdown until={asOf + settings.coolingMs} />
        </span>
      )}
    </span>
  )
}
