/** Liveness of a process by its last heartbeat, in words and with a dot. */
import type { Instance } from '../../api/types.ts'
import { Badge } from '../../kit/state.tsx'
import { Ago, useNow } from '../../kit/text/time.tsx'

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
  alive: ['text-done', 'alive'],
  late: ['text-ready', 'late'],
  unresponsive: ['text-dead', 'unresponsive'],
}

export function Heartbeat({ instance }: { readonly instance: Instance }) {
  const [colour, text] = WORDS[heartbeatStateOf(instance, useNow())]
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <Badge colour={colour} text={text} />
      <span className="text-soft">
        heartbeat <Ago at={instance.renewedAt} />
      </span>
    </span>
  )
}
