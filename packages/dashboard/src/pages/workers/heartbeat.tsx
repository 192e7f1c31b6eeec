/** The state of a process: what an operator requested, and liveness by its last heartbeat. */
import type { Instance } from '../../api/types.ts'
import { Badge } from '../../kit/state.tsx'
import { plural } from '../../kit/text/format.ts'
import { Ago, Moment, useNow } from '../../kit/text/time.tsx'

const ALIVE_MS = 30_000
const LATE_MS = 90_000

type HeartbeatState = 'alive' | 'late' | 'unresponsive'

function heartbeatStateOf(
  { state, renewedAt }: Pick<Instance, 'state' | 'renewedAt'>,
  now: number,
): HeartbeatState {
  const age = now - renewedAt
  if (age > LATE_MS || state === 'lost') return 'unresponsive'
  return age > ALIVE_MS || state === 'expired' ? 'late' : 'alive'
}

const WORDS: Readonly<Record<HeartbeatState, readonly [colour: string, text: string]>> = {
  alive: ['text-done', 'active'],
  late: ['text-ready', 'late'],
  unresponsive: ['text-dead', 'unresponsive'],
}

interface Props {
  readonly instance: Instance
  /** The number of its running jobs. */
  readonly running: number
}

export function Heartbeat({ instance, running }: Props) {
  const state = heartbeatStateOf(instance, useNow())
  const [colour, text] = WORDS[state]
  const { requested, requestedAt } = instance
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      {requested !== null && requestedAt !== null && (
        <span className="inline-flex flex-wrap items-center gap-x-1">
          <Badge colour="text-ready" text={requestText(requested, running)} />
          <span className="text-soft">
            since <Moment at={requestedAt} />
          </span>
        </span>
      )}
      {(requested === null || state !== 'alive') && <Badge colour={colour} text={text} />}
      <span className="text-soft">
        heartbeat <Ago at={instance.renewedAt} />
      </span>
    </span>
  )
}

/** "quiet, 3 jobs running" */
function requestText(requested: NonNullable<Instance['requested']>, running: number): string {
  const name = requested === 'quiet' ? 'quiet' : 'stopping'
  return `${name}, ${running === 0 ? 'no jobs running' : `${plural(running, 'job')} running`}`
}
