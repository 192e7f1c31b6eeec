/** Queues. */
import { PageHead } from '../../kit/card.tsx'

export function QueuesPage() {
  return <PageHead title="Queues" />
}
