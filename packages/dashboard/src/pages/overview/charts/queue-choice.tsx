/** Of which queue the charts tell. */
import { useOverview } from '../../../api/reads.ts'
import { Select } from '../../../kit/field.tsx'

interface Props {
  /** Empty for all. */
  readonly chosen: string
  readonly choose: (queue: string) => void
}

export function QueueChoice({ chosen, choose }: Props) {
  const names = (useOverview().data?.queues ?? []).map(({ settings }) => settings.name)
  // One that is gone by now can still be looked back at.
  const known = chosen === '' || names.includes(chosen) ? names : [chosen, ...names]
  return (
    <Select
      aria-label="Queue in the charts"
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
