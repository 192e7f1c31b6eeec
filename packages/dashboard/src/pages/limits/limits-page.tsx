/** Limits. */
import { PageHead } from '../../kit/card.tsx'

export function LimitsPage() {
  return <PageHead title="Limits" />
}
