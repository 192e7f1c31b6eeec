/**
 * Explains why a queue runs more jobs than its number of workers: jobs are not interrupted when their process
 * loses its lease or its share of the workers, and other processes take over the share.
 */
import { useJobs } from '../../../api/reads.ts'
import { useNow } from '../../../kit/text/time.tsx'
import type { QueueAndCounts } from '../../../api/types.ts'
import { overLimitText } from './over-limit-text.ts'
import type { Server } from '../serving.ts'

interface Props {
  readonly queue: QueueAndCounts
  readonly servers: readonly Server[]
}

export function OverLimit({ queue, servers }: Props) {
  const { workers } = queue.settings
  if (workers === null || queue.counts.running <= workers) return null
  return <Explained queue={queue} servers={servers} workers={workers} />
}

/** Running jobs are read only here, for the few queues that need it. */
function Explained({ queue, servers, workers }: Props & { readonly workers: number }) {
  const now = useNow()
  const running = useJobs({ queue: queue.settings.name, state: 'running', limit: 500 }).data?.jobs ?? []
  const text = overLimitText({ running, servers, workers, now })
  if (text === null) return null
  return <p className="whitespace-normal text-ready">{text}</p>
}
