/** Versions of Jobmill, Node and the store. */
import { useOverview } from '../../api/reads.ts'
import type { System } from '../../api/types.ts'
import { Card, Fact, Facts } from '../../kit/card.tsx'

export function About({ system: { store, version, node } }: { readonly system: System }) {
  const here = useOverview().data?.here
  return (
    <Card title="About">
      <Facts>
        <Fact name="Jobmill">{version}</Fact>
        <Fact name="Node">{node}</Fact>
        <Fact name="Store">{store}</Fact>
        <Fact name="Served by">
          <span className="font-mono text-xs break-all">{here ?? '–'}</span>
        </Fact>
      </Facts>
    </Card>
  )
}
