/** System. */
import { PageHead } from '../../kit/card.tsx'

export function SystemPage() {
  return <PageHead title="System" />
}
