/** Workers. */
import { PageHead } from '../../kit/card.tsx'

export function WorkersPage() {
  return <PageHead title="Workers" />
}
