/** Which queue or which kind is looked at. */
import { Select } from '../../kit/field.tsx'

interface Props {
  readonly label: string
  /** What stands there when nothing is chosen. */
  readonly all: string
  readonly chosen: string
  readonly known: readonly string[]
  readonly choose: (name: string) => void
}

export function ErrorFilter({ label, all, chosen, known, choose }: Props) {
  // What is chosen may be known to nobody any more.
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
