/** Applied and pending migrations. */
import type { System } from '../../api/types.ts'
import { Card } from '../../kit/card.tsx'
import { plural } from '../../kit/text/format.ts'
import { Badge } from '../../kit/state.tsx'

export function Migrations({ migrations }: Pick<System, 'migrations'>) {
  if (migrations === null) return null
  const { applied, pending, refused } = migrations
  return (
    <Card title="Migrations">
      {refused !== null && <p className="mb-2 text-dead">{refused}</p>}
      {pending.length > 0 && (
        <p className="mb-2 text-ready">
          {plural(pending.length, 'pending migration')}. Run{' '}
          <code className="font-mono">jobmill db migrate</code>, or start a process of the new release.
        </p>
      )}
      <ul className="flex max-h-64 flex-col gap-1 overflow-y-auto">
        {[
          ...pending.map((one) => ({ ...one, isApplied: false })),
          ...applied.toReversed().map((one) => ({ ...one, isApplied: true })),
        ].map(({ number, name, isApplied }) => (
          <li key={number} className="flex items-baseline justify-between gap-3">
            <span className="min-w-0 truncate" title={name}>
              <span className="text-soft tabular-nums">{number}</span> {name}
            </span>
            <Badge colour={isApplied ? 'text-done' : 'text-ready'} text={isApplied ? 'applied' : 'pending'} />
          </li>
        ))}
      </ul>
    </Card>
  )
}
