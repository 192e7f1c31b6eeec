/** Filters errors by queue or kind. */
import { Select } from '../../kit/forms/field.tsx'

interface Props {
  readonly label: string
  /** The label of the empty choice. */
  readonly all: string
  readonly chosen: string
  readonly known: readonly string[]
  readonly choose: (name: string) => void
}

export function ErrorFilter({ label, all, chosen, known, choose }: Props) {
  // The chosen name may no longer exist.
  const names = [...new Set([...known, ...(chosen === '' ? [] : [chosen])])].toSorted()
  return (
    <Select
      aria-label={label}
      className="max-w-56"
      value={chosen}
      onChange={(event) => choose(event.target.value)}
    >
      <option value="">{all}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </Select>
  )
}
