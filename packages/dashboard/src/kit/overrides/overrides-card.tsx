/**
 * The overrides of one queue, limit or schedule, and a button that resets them all. Renders nothing when
 * there are none.
 */
import { useAct } from '../../api/acts.ts'
import { encodeName } from '../../api/client.ts'
import { useOverrides } from '../../api/overrides.ts'
import { useMay } from '../../api/user/roles.ts'
import type { Override } from '../../api/types.ts'
import { Button } from '../button.tsx'
import { Card } from '../card.tsx'
import { plural } from '../text/format.ts'
import { OverrideTable } from './override-table.tsx'

interface Props {
  readonly what: Override['what']
  readonly name: string
}

export function OverridesCard({ what, name }: Props) {
  const overrides = [...useOverrides(what, name).values()]
  const may = useMay()
  const { actNow, isActing } = useAct()
  if (overrides.length === 0) return null
  const reset = (): void =>
    actNow({
      method: 'DELETE',
      path: `overrides/${what}/${encodeName(name)}`,
      done: `Reset ${plural(overrides.length, 'override')} of ${name}`,
    })
  return (
    <Card
      flush
      title="Overrides"
      tools={
        may('admin') && overrides.length > 1 ? (
          <Button disabled={isActing} onClick={reset}>
            Reset all
          </Button>
        ) : undefined
      }
    >
      <OverrideTable overrides={overrides} />
    </Card>
  )
}
