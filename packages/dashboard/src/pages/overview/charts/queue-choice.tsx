/** Chooses the queue of the charts. */
import { useOverview } from '../../../api/reads.ts'
import { Select } from '../../../kit/forms/field.tsx'

interface Props {
  /** Empty for all queues. */
  readonly chosen: string
  readonly choose: (queue: string) => void
}

export function QueueChoice({ chosen, choose }: Props) {
  const names = (useOverview().data?.queues ?? []).map(({ settings }) => settings.name)
  // A queue that no longer exists can still be viewed.
  const known = chosen === '' || names.includes(chosen) ? names : [chosen, ...names]
  return (
    <Select
      aria-label="Chart queue"
      value={chosen}
      className="max-w-48"
      onChange={({ target }) => choose(target.value)}
    >
      <option value="">All queues</option>
      {known.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </Select>
  )
}
