/** One schedule. */
import { PageHead } from '../../kit/card.tsx'

export function SchedulePage({ name }: { readonly name: string }) {
  return <PageHead title={name} />
}
