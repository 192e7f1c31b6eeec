/** One job. */
import { PageHead } from '../../kit/card.tsx'

export function JobPage({ id }: { readonly id: string }) {
  return <PageHead title={id} />
}
