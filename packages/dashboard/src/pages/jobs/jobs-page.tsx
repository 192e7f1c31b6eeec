/** Jobs. */
import { PageHead } from '../../kit/card.tsx'

export function JobsPage() {
  return <PageHead title="Jobs" />
}
