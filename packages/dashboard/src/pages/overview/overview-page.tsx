/** Overview. */
import { PageHead } from '../../kit/card.tsx'

export function OverviewPage() {
  return <PageHead title="Overview" />
}
