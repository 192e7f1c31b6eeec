/** When a schedule runs next, or why it does not. */
import type { Schedule } from '../../api/types.ts'
import { Badge } from '../../kit/state.tsx'
import { Ago, useNow } from '../../kit/text/time.tsx'

export function NextRun({ schedule: { paused, nextAt } }: { readonly schedule: Schedule }) {
  const now = useNow()
  if (paused) return <Badge colour="text-ready" text="paused" />
  if (nextAt === null) return <span className="text-soft">never</span>
  return nextAt <= now ? <>any moment</> : <Ago at={nextAt} />
}
