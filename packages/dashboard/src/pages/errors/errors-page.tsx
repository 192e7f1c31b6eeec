/** Errors. */
import { PageHead } from '../../kit/card.tsx'

export function ErrorsPage() {
  return <PageHead title="Errors" />
}
